"""Recognising what is asked about files: list, read, search, count."""

from __future__ import annotations

import re

from ._intents import Call, Intent, Say
from ._words import Clause, Memory, is_file_name

__all__ = ["counting", "listing", "naming", "reading", "searching", "units_in"]

_UNITS = (
    ("lines", re.compile(r"\b(?:lines?|rows?|long|length)\b")),
    ("words", re.compile(r"\bwords?\b")),
    ("characters", re.compile(r"\b(?:characters?|chars?|letters?)\b")),
)
_COUNT = re.compile(r"\bcount\b|\bhow\s+(?:many|long|big|large)\b|\bnumber\s+of\b|\bwc\b")
_LIST = re.compile(
    r"^(?:list|ls|dir)\b|\b(?:show|what|which|see|give)\b.*\b(?:files|folders)\b|\bcount\b.*\bfiles\b|"
    r"\bhow\s+many\s+files\b|\bwhat(?:'s|\s+is|s)?\s+(?:is\s+)?(?:in|inside|here)\b(?:\s+(?:this|the|my|here))?\s*"
    r"(?:folder|directory|here|there)?$|\blook\s+around\b|"
    r"\bwhat(?:'s|\s+is|s)\b.*\b(?:in|inside)\b.*\b(?:folder|directory)\b|^(?:show|open)\b.*\b(?:folder|directory)\b"
)
_KINDS = {
    "python": "*.py",
    "markdown": "*.md",
    "text": "*.txt",
    "json": "*.json",
    "csv": "*.csv",
    "yaml": "*.y*ml",
    "toml": "*.toml",
    "html": "*.html",
    "rust": "*.rs",
    "javascript": "*.js",
    "typescript": "*.ts",
}
_READ = re.compile(
    r"^(?:read|open|print|display|cat|view|show|give|look\s+at|let\s+me\s+see)\b|\bwhat\s+does\b.*\bsay\b|"
    r"\bwhat(?:'s|\s+is|s)\b.*\b(?:in|inside)\b|\bcontents?\b|\bwhat\s+does\b.*\bcontain\b"
)
_SEARCH = re.compile(r"^(?:search|find|grep|look)\b(?:\s+for\b)?|^where\s+(?:is|are|does|do)\b|^(?:is|are)\s+there\b")
_SEARCH_IN_FOR = re.compile(
    r"^(?:search|look|grep)\s+(?:in(?:side)?\s+|through\s+)?(?P<where>.+?)\s+for\s+(?P<what>.+)$", re.I
)
_NEEDLE = re.compile(
    r"^(?:search|find|grep|look|where\s+(?:is|are|does|do)|(?:is|are)\s+there)\s+(?:for\s+)?(?P<what>.+?)"
    r"(?:\s+(?:in|inside|within|under)\s+(?P<where>[^,]+))?$",
    re.IGNORECASE,
)
_FILLING = re.compile(
    r"^(?:(?:the|a|an|any|all|every|each|me|for|occurrences?\s+of|mentions?\s+of|lines?\s+(?:with|containing)|"
    r"words?|texts?|strings?|phrases?|files?\s+(?:with|containing|that\s+contain|that\s+mention))\s+)+",
    re.IGNORECASE,
)


def units_in(text: str) -> tuple[str, ...]:
    """Return the units that are named in a text of small letters."""
    return tuple(name for name, pattern in _UNITS if pattern.search(text))


def counting(clause: Clause, memory: Memory) -> tuple[Intent, ...] | None:
    """Count lines, words or characters: one call per file and unit."""
    bare = _without_names(clause)
    if not _COUNT.search(bare) or re.search(r"\bfiles\b", bare):
        return None
    units = units_in(bare)
    if not units and not re.search(r"\bcount\b|\bwc\b|\bbig\b|\blarge\b", bare):
        return None
    return _count_calls(clause.referred(memory), units)


def _count_calls(files: tuple[str, ...], units: tuple[str, ...]) -> tuple[Intent, ...]:
    if not files:
        return (Say("which-file", "count in"),)
    return tuple(Call("count", {"path": file, "what": unit}) for file in files for unit in units or ("all",))


def listing(clause: Clause, _memory: Memory) -> tuple[Intent, ...] | None:
    """List a folder, or the files of one kind."""
    bare = _without_names(clause)
    named = clause.files()
    if not _LIST.search(bare) and not (named and named[0].endswith("/") and _READ.search(bare)):
        return None
    if "files" not in bare and not bare.startswith(("list", "ls", "dir")) and any(is_file_name(name) for name in named):
        return None
    pattern = next((name for name in named if "*" in name), None)
    pattern = pattern or next((glob for kind, glob in _KINDS.items() if re.search(rf"\b{kind}\b", bare)), None)
    places = tuple(name for name in named if "*" not in name) or (".",)
    return tuple(Call("list_files", {"path": place} | ({"pattern": pattern} if pattern else {})) for place in places)


def reading(clause: Clause, memory: Memory) -> tuple[Intent, ...] | None:
    """Read files."""
    bare = _without_names(clause)
    if not _READ.search(bare):
        return None
    named = clause.files()
    refers = re.search(r"\b(?:it|its|them|their|that|this|file|files|again|both|these|those)\b", bare)
    files = named or (clause.referred(memory) if refers else ())
    if files:
        return tuple(Call("read_file", {"path": file}) for file in files)
    asks = re.match(r"(?:read|open|cat|view|display)\b", bare) or refers
    return (Say("which-file", "read"),) if asks else None


def searching(clause: Clause, memory: Memory) -> tuple[Intent, ...] | None:
    """Search a text in files, or a file by its name."""
    if not _SEARCH.search(clause.lower) or re.match(r"look\s+(?:at|around)\b", clause.lower):
        return None
    turned = _SEARCH_IN_FOR.match(clause.text)
    if turned and (clause.files(turned["where"]) or re.search(r"\b(?:it|files|folder|here)\b", turned["where"])):
        what, where = turned["what"], turned["where"]
    else:
        found = _NEEDLE.match(clause.text)
        if found is None:
            return None
        what, where = found["what"], found["where"] or ""
        what, where = _grep_order(clause, what, where)
    quoted = tuple(mark for mark in clause.marks if mark in what)
    needle = clause.quotes[quoted[0]] if quoted else clause.plain(_FILLING.sub("", what).rstrip("?"))
    if not needle:
        return None
    if not quoted and not where and clause.files(needle) == (needle,) and "/" not in needle:
        return (Call("list_files", {"path": ".", "pattern": needle}),)
    named = clause.files("in " + re.sub(r"\s+and\s+|,\s*", " in ", where)) if where else ()
    places = named or (memory.files[-1:] if re.search(r"\b(?:it|that\s+file)\b", where) else ()) or (".",)
    return tuple(Call("search_files", {"text": needle, "path": place}) for place in places)


def _grep_order(clause: Clause, what: str, where: str) -> tuple[str, str]:
    """Understand ``grep WORD FILE``, which names the file last and says no "in"."""
    words = what.split()
    if clause.lower.startswith("grep") and not where and len(words) > 1 and clause.files(words[-1]):
        return " ".join(words[:-1]), words[-1]
    return what, where


def naming(clause: Clause, memory: Memory) -> tuple[Intent, ...] | None:
    """Understand half a sentence: "and its words?", "what about b.txt?", "and pyproject.toml"."""
    bare = _without_names(clause)
    units = units_in(bare)
    if units and (clause.files() or memory.files):
        return _count_calls(clause.referred(memory), units)
    named = clause.files()
    rest = re.sub(r"\b(?:what|how|about|and|also|in|of|the|file|for|with|too|as|well|is)\b|[,?]", " ", bare).strip()
    if not named or rest:
        return None
    calls = [
        (tool, args) for tool, args in memory.calls if tool in {"count", "read_file", "list_files", "search_files"}
    ]
    if not calls:
        return tuple(Call("read_file", {"path": file}) for file in named)
    again = {
        (tool, tuple(sorted((key, str(value)) for key, value in args.items() if key != "path"))): None
        for tool, args in calls
    }
    return tuple(Call(tool, {**dict(others), "path": file}) for file in named for tool, others in again)


def _without_names(clause: Clause) -> str:
    """The words in small letters, without quoted texts and names of files, which may look like verbs."""
    text = clause.text
    for mark in clause.marks:
        text = text.replace(mark, " ")
    for name in clause.files(quoted=False):
        text = re.sub(rf"(?<!\S){re.escape(name)}(?!\w)", " ", text)
    return " ".join(text.lower().split())
