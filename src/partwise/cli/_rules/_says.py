"""What the assistant says without a tool, and how it announces its calls."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import assert_never

from ._intents import Call, Say

__all__ = ["announcement", "in_words", "said", "unknown"]

_WHAT_I_AM = "I am a small program with fixed rules, not a language model"
_ABILITIES = """\
- list files: `list the python files`
- read a file: `show README.md`
- search: `search for "install" in docs`
- count lines, words or characters: `count the lines in README.md`
- calculate, exactly: `what is 15% of 80`
- write to a file, after asking you: `append "buy milk" to notes.txt`
- tell the time"""


def said(say: Say, now: datetime) -> str:
    """Return what is to be said on a topic."""
    match say.topic:
        case "greeting":
            return f'Hello! {_WHAT_I_AM}, but I can work with the files of this folder. Say "help" to see how.'
        case "farewell":
            return "Goodbye!"
        case "thanks":
            return "You're welcome."
        case "help":
            return f"{_WHAT_I_AM}. I can:\n\n{_ABILITIES}"
        case "time":
            return f"It is {now:%H:%M} on {now:%A}, {now.day} {now:%B %Y}."
        case "which-file":
            return f"Which file shall I {say.about}?"
        case "what-text":
            return f'What shall I write to {_code(say.about)}? Say for example: `write "some text" to {say.about}`.'
        case "unknown":
            return unknown([say.about])
        case _:
            assert_never(say.topic)


def unknown(phrases: Sequence[str]) -> str:
    """Say honestly that something was not understood, and what would be."""
    quoted = [f"“{_short(phrase)}”" for phrase in phrases if phrase]
    rest = [f"{len(quoted) - 2} more"] if len(quoted) > 2 else []
    lack = f"I don't understand {in_words([*quoted[:2], *rest])}. " if quoted else ""
    return f"{lack}{_WHAT_I_AM}, so I know only a few things. I can:\n\n{_ABILITIES}"


def announcement(calls: Sequence[Call]) -> str:
    """Return the sentence that precedes calls."""
    return f"I'll {in_words([_phrase(call) for call in calls])}."


def in_words(items: Sequence[str]) -> str:
    """Join phrases: "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _phrase(call: Call) -> str:
    path = str(call.args.get("path", "."))
    match call.tool:
        case "count":
            unit = call.args.get("what", "lines")
            return f"count {'everything' if unit == 'all' else f'the {unit}'} in {_code(path)}"
        case "read_file":
            return f"read {_code(path)}"
        case "list_files":
            pattern = call.args.get("pattern")
            kind = f"files named {_code(str(pattern))}" if pattern else "files"
            return f"list the {kind} in {_folder(path)}"
        case "search_files":
            return f"search {_folder(path)} for “{_short(str(call.args['text']))}”"
        case "calculate":
            return f"work out {_code(str(call.args['expression']))}"
        case "write_file":
            verb = "add to" if call.args.get("append") else "write"
            return f"{verb} {_code(path)}, if you allow it"
        case _:
            return f"use {_code(call.tool)}"


def _folder(path: str) -> str:
    return "this folder" if path in {".", ""} else _code(path)


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else f"{flat[:59]}…"
