"""The one folder that the tools may touch, and the rules of paths in it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath

import attrs

from partwise.errors import InvalidInputError

__all__ = ["MOST_VISITED", "Folder", "Walk", "is_skipped", "refused"]

# Folders that are full of things which nobody wrote.
_SKIPPED = frozenset({"__pycache__", "node_modules", "venv"})
MOST_VISITED = 20_000


def refused(*, why: str) -> InvalidInputError:
    """Return the error of something that is not done, in words for the one who asked."""
    return InvalidInputError(why)


def is_skipped(name: str) -> bool:
    """Whether a file or folder of that name is left out of lists and searches."""
    return name.startswith(".") or name in _SKIPPED


@attrs.define
class Walk:
    """What a walk through a folder left out."""

    skipped: int = 0
    stopped: bool = False


def _real(path: Path | str) -> Path:
    return Path(path).resolve()


@attrs.frozen
class Folder:
    """A folder and everything below it that is not hidden. Links that lead out of it lead nowhere."""

    root: Path = attrs.field(converter=_real)

    def place(self, path: str) -> Path:
        """Return where a path inside the folder leads, whether something is there or not.

        Raises:
            InvalidInputError: It is absolute, goes up, is hidden, or follows a link out of the folder.
        """
        text = path.strip()
        if "\0" in text:
            raise refused(why="A path cannot contain a null character.")
        pure = PurePosixPath(text)
        windows = PureWindowsPath(text)
        if pure.is_absolute() or windows.is_absolute() or windows.drive or text.startswith(("~", "\\")):
            raise refused(why=f"{path!r} is not a path inside the folder; give one relative to it.")
        if ".." in pure.parts or ".." in windows.parts:
            raise refused(why=f"{path!r} leads out of the folder; only what is inside can be used.")
        if any(part.startswith(".") for part in pure.parts):
            raise refused(why=f"{path!r} is hidden; hidden files and folders stay private.")
        return self._inside(self.root / pure, path)

    def _inside(self, place: Path, path: str) -> Path:
        try:
            real = place.resolve()
        except (OSError, RuntimeError) as error:
            raise refused(why=f"{path!r} cannot be followed: {error}") from error
        if not real.is_relative_to(self.root):
            raise refused(why=f"{path!r} is a link that leads out of the folder.")
        if any(part.startswith(".") for part in real.relative_to(self.root).parts):
            raise refused(why=f"{path!r} is a link to something hidden; hidden files stay private.")
        return real

    def existing(self, path: str) -> Path:
        """Return the file or folder at a path; its name may be in other letters, or lack its ending.

        Raises:
            InvalidInputError: See ``place``; or nothing is there.
        """
        place = self.place(path)
        if place.exists():
            return place
        names = self._names(place.parent)
        wanted = place.name.lower()
        for found in (
            [name for name in names if name.lower() == wanted],
            [name for name in names if Path(name.lower()).stem == wanted],
        ):
            if len(found) == 1:
                return self._inside(place.parent / found[0], path)
        near = difflib.get_close_matches(place.name, names, n=3)
        advice = f" Did you mean {' or '.join(near)}?" if near else ""
        raise refused(why=f"There is no {path!r} in the folder.{advice}")

    def file(self, path: str) -> Path:
        """Return the regular file at a path.

        Raises:
            InvalidInputError: See ``existing``; or it is a folder or a device.
        """
        place = self.existing(path)
        if place.is_dir():
            raise refused(why=f"{self.name(place)!r} is a folder, not a file.")
        if not place.is_file():
            raise refused(why=f"{self.name(place)!r} is not a regular file.")
        return place

    def name(self, place: Path) -> str:
        """Return a place as a path relative to the folder."""
        return place.relative_to(self.root).as_posix()

    def files(self, start: Path, walk: Walk) -> Iterator[Path]:
        """Give all files at and below a place, in order; ``walk`` learns what was left out."""
        if not start.is_dir():
            yield start
            return
        visited = 0
        waiting = [start]
        while waiting:
            folder = waiting.pop()
            below: list[Path] = []
            for entry in self.entries(folder, walk):
                visited += 1
                if visited > MOST_VISITED:
                    walk.stopped = True
                    return
                if entry.is_dir(follow_symlinks=False):
                    below.append(Path(entry.path))
                elif self._is_own_file(entry):
                    yield Path(entry.path)
            waiting.extend(reversed(below))

    def entries(self, folder: Path, walk: Walk) -> list[os.DirEntry[str]]:
        """Return what is in a folder, by name, without what is skipped; an unreadable folder is empty."""
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            walk.skipped += 1
            return []
        shown = [entry for entry in entries if not is_skipped(entry.name)]
        walk.skipped += len(entries) - len(shown)
        return shown

    def _is_own_file(self, entry: os.DirEntry[str]) -> bool:
        try:
            if not entry.is_symlink():
                return entry.is_file()
            return self._inside(Path(entry.path), entry.name).is_file()
        except (OSError, InvalidInputError):
            return False

    def _names(self, folder: Path) -> list[str]:
        if not folder.is_dir():
            return []
        return [entry.name for entry in self.entries(folder, Walk())]
