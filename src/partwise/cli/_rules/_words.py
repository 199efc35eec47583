"""From what a user typed to clauses: one thing asked for in each."""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

__all__ = ["Clause", "Memory", "clauses_of", "is_file_name", "strip_polite", "unfenced"]

# Quoted text takes part in no rule: it is replaced by one letter of a range that no keyboard types.
_FIRST_MARK = 0xE000
_LAST_MARK = 0xF8FF
_MARK = re.compile(f"[{chr(_FIRST_MARK)}-{chr(_LAST_MARK)}]")
_QUOTED = re.compile(
    r"\s*```(?:[\w+-]*\n)?(?P<fence>.*?)\n?```\s*|`(?P<tick>[^`\n]+)`|\"(?P<double>[^\"]*)\"|\u201c(?P<curly>[^\u201d]*)\u201d"
    r"|\u2018(?P<curl>[^\u2019]*)\u2019|(?<!\w)'(?P<single>[^'\n]+)'(?!\w)",
    re.DOTALL,
)

_VERBS = (
    "read|show|open|print|display|cat|view|count|list|ls|dir|search|find|grep|look|calculate|calc|compute|evaluate|"
    "what|what's|whats|how|who|write|append|add|create|make|save|put|replace|overwrite|tell|say|give|help|thanks|thank"
)
_POLITE = re.compile(
    r"^(?:(?:please|kindly|can|could|would|will|you|i\s+(?:want|need)(?:\s+you)?\s+to|i'd\s+like(?:\s+you)?\s+to|let's|now|also|and|so|ok"
    r"|okay|just|finally|first|then|go\s+ahead\s+and)\b[\s,]*)+",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.;!?]+(?:\s+|$)|\n+")
_THEN = re.compile(r"[,\s]*\b(?:and\s+)?(?:then|afterwards|after\s+that)\b[,\s]*", re.IGNORECASE)
_AND_VERB = re.compile(
    rf"\s*(?:,\s*(?:and\s+)?|\band\s+|&\s*)(?=(?:(?:also|please|can\s+you|could\s+you)\s+)*(?:{_VERBS})\b)",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"(?=.*[A-Za-z_*])[\w.*~-]*\.[A-Za-z]\w{0,9}|(?=.*[A-Za-z.*])\S*[/\\]\S*", re.ASCII)
_WELL_KNOWN = frozenset(
    {"readme", "license", "licence", "makefile", "dockerfile", "changelog", "contributing", "authors", "notice"}
)
_NO_NAMES = re.compile(
    r"the|this|that|its?|them|their|these|those|here|there|all|my|an?|folders?|directory|directories|files?|me|us|"
    r"everything|anything|current|same|again|project|both|each|every|lines?|words?|characters?|whole|entire|root|main|"
    rf"working|{_VERBS}",
    re.IGNORECASE,
)
_PLACES = (
    re.compile(
        r"\b(?:in|inside|within|of|from|to|into|under|called|named|file|folder|directory)\s+(\S+)", re.IGNORECASE
    ),
    re.compile(r"(?<!\S)(\S+)\s+(?:folder|directory)\b", re.IGNORECASE),
    re.compile(r"^(?:read|open|cat|view|print|display|show|list|ls|dir|count|wc)\s+(\S+)$", re.IGNORECASE),
)
_BLANKS = re.compile(r"[^\S\n]+")
_EDGES = ",;:!?()[]<>"


@attrs.frozen
class Memory:
    """What was talked about before.

    Attributes:
        files: The files that were mentioned last, oldest first.
        calls: The tools that were called last, each with its arguments.
    """

    files: tuple[str, ...] = ()
    calls: tuple[tuple[str, Mapping[str, object]], ...] = ()


@attrs.frozen(kw_only=True)
class Clause:
    """A part of what the user said that asks for one thing.

    Attributes:
        text: The words, with a mark in place of each quoted text.
        quotes: The quoted texts by their marks.
        after: Whether it is to be done after the clauses before it.
    """

    text: str
    quotes: Mapping[str, str]
    after: bool = False

    @property
    def lower(self) -> str:
        """The words in small letters."""
        return self.text.lower()

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks of quoted texts, in order."""
        return tuple(_MARK.findall(self.text))

    def plain(self, text: str) -> str:
        """Return words of this clause as the user typed them, quotation marks aside."""
        return _MARK.sub(lambda found: self.quotes.get(found[0], ""), text).strip()

    def files(self, text: str | None = None, *, quoted: bool = True) -> tuple[str, ...]:
        """Return what looks like the name of a file or folder, in order.

        Args:
            text: Words of this clause; None for all.
            quoted: Whether quoted texts are names.
        """
        words = self.text if text is None else text
        named: dict[str, None] = {}
        placed = {found[1].strip(_EDGES).rstrip(".") for place in _PLACES for found in place.finditer(words)}
        for word in words.split():
            bare = word.strip(_EDGES).rstrip(".")
            bare = bare.removesuffix("'s")
            if _MARK.fullmatch(bare):
                named.update({self.quotes[bare].strip(): None} if quoted and self.quotes[bare].strip() else {})
            elif self._is_name(bare, placed):
                named[bare] = None
        return tuple(named)

    @staticmethod
    def _is_name(word: str, placed: set[str]) -> bool:
        if not word or _MARK.search(word):
            return False
        if _FILE_NAME.fullmatch(word) or word.lower() in _WELL_KNOWN:
            return True
        return word in placed and not _NO_NAMES.fullmatch(word) and word[0].isalpha()

    def referred(self, memory: Memory) -> tuple[str, ...]:
        """Return the files meant by this clause: named in it, or by a pronoun; otherwise the last one."""
        named = self.files()
        if named:
            return named
        if re.search(r"\b(?:them|their|both|these|those)\b", self.lower):
            return memory.files
        return memory.files[-1:]


def is_file_name(word: str) -> bool:
    """Whether a word can hardly be anything but the name of a file."""
    return word.lower() in _WELL_KNOWN or re.search(r"\w\.[A-Za-z]\w*$", word) is not None


def strip_polite(text: str) -> str:
    """Return a clause without the words that only make it polite."""
    return _POLITE.sub("", text.strip())


def unfenced(text: str) -> str:
    """Return a text without white space around it, and without the fence if it is one fenced block."""
    block = _QUOTED.fullmatch(text)
    fenced = block["fence"] if block else None
    return text.strip() if fenced is None else fenced


def clauses_of(text: str) -> tuple[Clause, ...]:
    """Split what a user typed into clauses."""
    masked, quotes = _masked(text)
    clauses: list[Clause] = []
    for sentence in _SENTENCE_END.split(masked):
        for stage, part in enumerate(_THEN.split(sentence)):
            for index, piece in enumerate(_AND_VERB.split(part)):
                words = strip_polite(piece)
                if words.strip(" ,"):
                    after = stage > 0 and index == 0
                    clauses.append(Clause(text=words.strip(" ,"), quotes=quotes, after=after))
    return tuple(clauses)


def _masked(text: str) -> tuple[str, dict[str, str]]:
    quotes: dict[str, str] = {}

    def mark(found: re.Match[str]) -> str:
        letter = chr(_FIRST_MARK + len(quotes))
        if ord(letter) > _LAST_MARK:
            return found[0]
        quotes[letter] = next(group for group in found.groups() if group is not None)
        return f" {letter} "

    return _BLANKS.sub(" ", _QUOTED.sub(mark, _MARK.sub("", text))), quotes
