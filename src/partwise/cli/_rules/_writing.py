"""Writing files. Blocking; run in a worker thread."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from typing import Any

from ._folder import Folder, refused

__all__ = ["write_text"]

_LARGEST = 1_000_000


def write_text(folder: Folder, path: str, text: str, *, append: bool) -> dict[str, Any]:
    """Write a file, or append lines to it; folders on the way are made.

    What is written ends with a line break, and what is appended begins on a line of its own.
    """
    place = folder.place(path)
    if place.is_dir():
        raise refused(why=f"{folder.name(place)!r} is a folder, not a file.")
    if place.exists() and not place.is_file():
        raise refused(why=f"{folder.name(place)!r} is not a regular file.")
    data = (text if text.endswith("\n") or not text else f"{text}\n").encode()
    if len(data) > _LARGEST:
        raise refused(why=f"I write at most {_LARGEST:,} bytes at once, this is {len(data):,}.")
    existed = place.exists()
    place.parent.mkdir(parents=True, exist_ok=True)
    if append and existed:
        _append(place, data)
    else:
        _replace(place, data)
    action = "created" if not existed else "extended" if append else "replaced"
    return {"path": folder.name(place), "action": action, "bytes": len(data)}


def _append(place: Path, data: bytes) -> None:
    with place.open("r+b") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                data = b"\n" + data
        file.write(data)


def _replace(place: Path, data: bytes) -> None:
    """Put new content in place of the old in one step, so that a kill leaves one or the other."""
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        beside.write_bytes(data)
        if place.exists():
            shutil.copymode(place, beside)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
