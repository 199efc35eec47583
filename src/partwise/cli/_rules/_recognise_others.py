"""Recognising the rest: writing, arithmetic, repetition, and small talk."""

from __future__ import annotations

import re

from ._intents import Call, Intent, Say, Topic
from ._words import Clause, Memory, is_file_name

__all__ = ["calculating", "repeating", "talking", "writing"]

_WRITE = re.compile(r"^(?:write|append|add|save|put|create|make|overwrite|replace)\b")
_APPEND = re.compile(r"^(?:append|add)\b|\bto\s+the\s+end\b|\bat\s+the\s+end\b")
_TEXT_FIRST = re.compile(
    r"^\w+\s+(?P<text>.+?)\s+(?:(?:to|at)\s+the\s+end\s+of|to|into|in|as|on)\s+"
    r"(?P<file>(?:(?:the|a|an|new|file|called|named)\s+)*\S+)$",
    re.IGNORECASE,
)
_FILE_FIRST = re.compile(
    r"^\w+\s+(?:(?:to|into|the|a|an|new|text|empty|content|contents|of|file|called|named)\s+)*(?P<file>\S+?)"
    r"(?:\s+(?:with|containing|saying|that\s+says|so\s+that\s+it\s+says)?\s*(?P<text>.+))?$",
    re.IGNORECASE,
)
_TEXT_FILLING = re.compile(
    r"^(?:(?:the|a|an|this)\s+)?(?:(?:text|line|words?|content|sentence|contents)\b\s*(?:of\b)?\s*)+", re.IGNORECASE
)
_IT = re.compile(r"(?:the\s+|that\s+|this\s+)?(?:it|file)", re.IGNORECASE)

_ASK_SUM = re.compile(r"^(?:calculate|calc|compute|evaluate|work\s+out|solve)\b[\s:]*(?P<sum>.+)$", re.IGNORECASE)
_WHAT_IS = re.compile(r"^(?:what(?:'s|\s+is|s)?|how\s+much\s+is|tell\s+me)\b\s*(?P<sum>.+)$", re.IGNORECASE)
_SPOKEN = (
    (re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), ""),
    (re.compile(r"(\d+(?:\.\d+)?)\s*(?:%|percent)\s*of\s+", re.IGNORECASE), r"\1/100*"),
    (re.compile(r"\s*\bplus\b\s*", re.IGNORECASE), "+"),
    (re.compile(r"\s*\bminus\b\s*", re.IGNORECASE), "-"),
    (re.compile(r"\s*\b(?:times|multiplied\s+by)\b\s*", re.IGNORECASE), "*"),
    (re.compile(r"\s*\b(?:divided\s+by|over)\b\s*", re.IGNORECASE), "/"),
    (re.compile(r"\s*\b(?:mod|modulo)\b\s*", re.IGNORECASE), "%"),
    (re.compile(r"\s*\b(?:to\s+the\s+power\s+of)\b\s*", re.IGNORECASE), "**"),
    (re.compile(r"\s*\bsquared\b", re.IGNORECASE), "**2"),
    (re.compile(r"\s*\bcubed\b", re.IGNORECASE), "**3"),
    (re.compile(r"(?<=[\d)])\s*x\s*(?=[\d(])", re.IGNORECASE), "*"),
)
_ADD = re.compile(r"^add\s+(\d[\d.,]*)\s+(?:and|to)\s+(\d[\d.,]*)$", re.IGNORECASE)
_SUM = re.compile(r"[\d\s.+\-*/%()^\u00d7\u00f7\u2212]*\d[\d\s.+\-*/%()^\u00d7\u00f7\u2212]*")
_OPERATOR = re.compile(r"[+*/%^\u00d7\u00f7\u2212]|\d\s*-|-\s*\d")
_AGAIN = re.compile(
    r"^(?:(?:do|say|try|run)\s+(?:it|that|this|the\s+same)\s+)?(?:again|once\s+more|one\s+more\s+time)$|^repeat\b"
)

_TALK: tuple[tuple[Topic, re.Pattern[str]], ...] = (
    (
        "time",
        re.compile(r"\bwhat(?:'s|\s+is|s)?\s+(?:the\s+)?(?:current\s+)?(?:time|date|day)\b|\btell\s+me\s+the\s+time\b"),
    ),
    ("thanks", re.compile(r"\b(?:thanks|thank\s+you|thx|cheers)\b")),
    (
        "help",
        re.compile(
            r"^help\b|\bwhat\s+(?:can|do)\s+you\s+(?:do|know)\b|\bwho\s+are\s+you\b|\bwhat\s+are\s+you\b|"
            r"\bare\s+you\b|\bhow\s+do\s+(?:you|i)\b|\bwhat\s+else\b"
        ),
    ),
    (
        "greeting",
        re.compile(r"^(?:hi|hello|hey|howdy|greetings|good\s+(?:morning|afternoon|evening|day))\b[^?]{0,20}$"),
    ),
    ("farewell", re.compile(r"^(?:bye|goodbye|good\s+night|see\s+you)\b")),
)


def writing(clause: Clause, memory: Memory) -> tuple[Intent, ...] | None:
    """Write a text to a file, or add it to the end."""
    if not _WRITE.search(clause.lower):
        return None
    append = _APPEND.search(clause.lower) is not None
    text_first = _TEXT_FIRST.match(clause.text)
    if text_first:
        path = _file(clause, text_first["file"], memory)
        if path:
            return (_write(path, _text(clause, text_first["text"]), append=append),)
        if _IT.fullmatch(text_first["file"]):
            return (Say("which-file", "write to"),)
    file_first = _FILE_FIRST.match(clause.text)
    path = _file(clause, file_first["file"], memory) if file_first else None
    if file_first is None or path is None:
        return (Say("which-file", "write to"),) if re.match(r"(?:write|append|save)\b", clause.lower) else None
    text = _text(clause, file_first["text"] or "")
    creates = re.match(r"(?:create|make)\b", clause.lower)
    if creates and not (is_file_name(path) or "/" in path or re.search(r"\bfile\b", clause.lower)):
        return None
    if not text and not creates:
        return (Say("what-text", path),)
    return (_write(path, text, append=append),)


def _file(clause: Clause, words: str, memory: Memory) -> str | None:
    if _IT.fullmatch(words.strip()):
        return memory.files[-1] if memory.files else None
    named = clause.files(words) or clause.files(f"file {words}" if " " not in words else words)
    return named[0] if named else None


def _text(clause: Clause, words: str) -> str:
    marks = [mark for mark in clause.marks if mark in words]
    return clause.quotes[marks[0]] if marks else clause.plain(_TEXT_FILLING.sub("", words.strip().lstrip(":")))


def _write(path: str, text: str, *, append: bool) -> Call:
    return Call("write_file", {"path": path, "text": text} | ({"append": True} if append else {}))


def calculating(clause: Clause, _memory: Memory) -> tuple[Intent, ...] | None:
    """Work out a sum, in signs or in words."""
    text = clause.plain(clause.text)
    asked = _ASK_SUM.match(text)
    found = asked or _WHAT_IS.match(text)
    words = found["sum"] if found else _ADD.sub(r"\1 + \2", text)
    for pattern, sign in _SPOKEN:
        words = pattern.sub(sign, words)
    words = words.strip().rstrip("=?").strip()
    is_sum = _SUM.fullmatch(words) is not None and _OPERATOR.search(words) is not None
    return (Call("calculate", {"expression": words}),) if is_sum or asked else None


def repeating(clause: Clause, memory: Memory) -> tuple[Intent, ...] | None:
    """Do once more what was done last."""
    if not _AGAIN.search(clause.lower) or not memory.calls:
        return None
    return tuple(Call(tool, args) for tool, args in memory.calls)


def talking(clause: Clause, _memory: Memory) -> tuple[Intent, ...] | None:
    """Greetings, thanks, questions about the assistant, and the time."""
    for topic, pattern in _TALK:
        if pattern.search(clause.lower):
            return (Say(topic),)
    return None
