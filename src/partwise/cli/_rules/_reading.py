"""Looking at files: listing, reading, counting and searching them. Blocking; run in a worker thread."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs

from partwise.errors import InvalidInputError

from ._folder import MOST_VISITED, Folder, Walk, refused

__all__ = ["Unit", "count_in", "list_folder", "read_text", "search_folder"]

Unit: TypeAlias = Literal["lines", "words", "characters", "all"]

LARGEST_READ = 1_000_000
LARGEST_COUNTED = 100_000_000
_MOST_ENTRIES = 200
_MOST_MATCHES = 50
_LONGEST_LINE = 200
_BLOCK = 1 << 16


def list_folder(folder: Folder, path: str, pattern: str | None) -> dict[str, Any]:
    """List a folder; with a pattern such as ``*.py``, the matching files in it and below."""
    start, walk = folder.existing(path), Walk()
    if not start.is_dir():
        return {"path": folder.name(start), "entries": [_entry(folder.name(start), start)], "hidden": 0, "more": 0}
    if pattern:
        wanted = pattern.lower()
        found = [
            (folder.name(file), file)
            for file in folder.files(start, walk)
            if fnmatch.fnmatchcase(file.name.lower(), wanted) or fnmatch.fnmatchcase(folder.name(file).lower(), wanted)
        ]
    else:
        found = [(entry.name, Path(entry.path)) for entry in folder.entries(start, walk)]
        found.sort(key=lambda item: (not item[1].is_dir(), item[0]))
    answer: dict[str, Any] = {
        "path": folder.name(start),
        "entries": [_entry(name, place) for name, place in found[:_MOST_ENTRIES]],
        "hidden": walk.skipped,
        "more": max(0, len(found) - _MOST_ENTRIES),
    }
    if walk.stopped:
        answer["note"] = _stopped()
    return answer


def _entry(name: str, place: Path) -> dict[str, Any]:
    if place.is_dir():
        return {"name": f"{name}/"}
    try:
        return {"name": name, "size": place.lstat().st_size}
    except OSError:
        return {"name": name}


def _stopped() -> str:
    return f"stopped after {MOST_VISITED} files"


def read_text(folder: Folder, path: str) -> dict[str, Any]:
    """Read a text file as a whole."""
    file = folder.file(path)
    text = "".join(_blocks(folder, file, LARGEST_READ, "read"))
    return {"path": folder.name(file), "text": text}


def count_in(folder: Folder, path: str, what: Unit) -> dict[str, Any]:
    """Count lines, words or characters; a last line without a line break is a line."""
    file = folder.file(path)
    counted = _Counted()
    for block in _blocks(folder, file, LARGEST_COUNTED, "count in"):
        counted = counted.after(block)
    numbers = {"lines": counted.whole_lines, "words": counted.words, "characters": counted.characters}
    return {"path": folder.name(file), **(numbers if what == "all" else {what: numbers[what]})}


@attrs.frozen
class _Counted:
    breaks: int = 0
    words: int = 0
    characters: int = 0
    last: str = "\n"

    @property
    def whole_lines(self) -> int:
        return self.breaks + (self.last != "\n")

    def after(self, block: str) -> _Counted:
        joined = not self.last.isspace() and not block[0].isspace()
        return _Counted(
            self.breaks + block.count("\n"),
            self.words + len(block.split()) - joined,
            self.characters + len(block),
            block[-1],
        )


def _blocks(folder: Folder, file: Path, largest: int, purpose: str) -> Iterator[str]:
    """Give a text file block by block; its line breaks stay what they are."""
    name = folder.name(file)
    size = file.stat().st_size
    if size > largest:
        raise refused(why=f"{name!r} has {size:,} bytes; I {purpose} files of at most {largest:,} bytes.")
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            while block := opened.read(_BLOCK):
                if "\0" in block:
                    raise refused(why=f"{name!r} is a binary file, not text.")
                yield block
    except UnicodeDecodeError as error:
        raise refused(why=f"{name!r} is a binary file, or text that is not UTF-8.") from error


def search_folder(folder: Folder, text: str, path: str) -> dict[str, Any]:
    """Find the lines that contain a text, in large or small letters, in a file or below a folder."""
    if not text.strip():
        raise refused(why="There is nothing to search for.")
    start, walk, wanted = folder.existing(path), Walk(), text.casefold()
    matches: list[dict[str, Any]] = []
    searched = unreadable = more = 0
    for file in folder.files(start, walk):
        try:
            lines = "".join(_blocks(folder, file, LARGEST_READ, "search")).splitlines()
        except (InvalidInputError, OSError):
            unreadable += 1
            continue
        searched += 1
        for number, line in enumerate(lines, start=1):
            if wanted not in line.casefold():
                continue
            if len(matches) < _MOST_MATCHES:
                matches.append({"path": folder.name(file), "line": number, "text": line.strip()[:_LONGEST_LINE]})
            else:
                more += 1
    answer: dict[str, Any] = {
        "text": text,
        "path": folder.name(start),
        "matches": matches,
        "more": more,
        "files_searched": searched,
        "hidden": walk.skipped,
        "unreadable": unreadable,
    }
    if walk.stopped:
        answer["note"] = _stopped()
    return answer
