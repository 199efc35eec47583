"""What can be typed in place of a prompt."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

import attrs

__all__ = ["HELP", "Attach", "Branch", "Command", "Edit", "Plain", "Problem", "Prompt", "Reload", "read_command"]

HELP = """\
/attach FILE         send a text or an image with the next message; /detach takes all back
/edit N TEXT         ask message N again with another text, on a branch of its own
/reload              answer the last question again, on a branch of its own
/branch prev|next    show the other branch at the last fork
/history             print the thread with the numbers of its messages
/help, /quit
A line that begins with // is a prompt that begins with /."""

_COMMAND = re.compile(r"/([a-z]*)(?:\s+(.*))?")


@attrs.frozen
class Prompt:
    """Something to be answered."""

    text: str


@attrs.frozen
class Attach:
    """A file that goes with the next message."""

    path: str


@attrs.frozen
class Edit:
    """Another text for an earlier message."""

    number: int
    text: str


@attrs.frozen
class Reload:
    """Another answer to the last question."""


@attrs.frozen
class Branch:
    """The branch beside the one that is shown."""

    to: Literal["previous", "next"]


@attrs.frozen
class Plain:
    """A command without anything to it."""

    name: Literal["help", "quit", "history", "detach", "nothing"]


@attrs.frozen
class Problem:
    """A command that cannot be understood."""

    text: str


Command: TypeAlias = Prompt | Attach | Edit | Reload | Branch | Plain | Problem


def read_command(line: str) -> Command:
    """Read one line of input."""
    text = line.strip()
    if not text:
        return Plain("nothing")
    if text.startswith("//"):
        return Prompt(text[1:])
    found = _COMMAND.fullmatch(text)
    if found is None:
        return Prompt(text)
    name, rest = found[1], (found[2] or "").strip()
    match name:
        case "help" | "quit" | "history" | "detach":
            return Plain(name)
        case "exit":
            return Plain("quit")
        case "attach":
            return Attach(rest) if rest else Problem("/attach needs a file: /attach notes.md")
        case "reload":
            return Reload()
        case "branch":
            return _branch(rest)
        case "edit":
            return _edit(rest)
        case _:
            return Problem(f"there is no command /{name}; /help lists them, and // begins a prompt with /")


def _branch(rest: str) -> Command:
    if rest in {"prev", "previous"}:
        return Branch("previous")
    if rest == "next":
        return Branch("next")
    return Problem("/branch needs a direction: /branch prev or /branch next")


def _edit(rest: str) -> Command:
    number, _, text = rest.partition(" ")
    if not (number.isascii() and number.isdigit()) or not text.strip():
        return Problem("/edit needs the number of a message and its new text: /edit 1 something else")
    return Edit(int(number), text.strip())
