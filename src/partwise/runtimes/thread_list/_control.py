"""The selection as somebody outside holds it, such as the address of a page: told of changes, never of its own."""

from __future__ import annotations

from partwise.messages import MISSING, Missing
from partwise.reactive import Events

from ._board import Board

__all__ = ["Control"]


class Control:
    """Tells the owner of the selection which thread is in view, by its remote id; None for a new thread.

    The owner hears only what it does not know: neither what it asked for itself, nor anything twice.

    Args:
        told: Where it is told.
        wanted: What the owner asked for first; None for a new thread, missing when there is no such owner.
        believed: What it takes to be in view.

    Attributes:
        wanted: What the owner asked for last.
    """

    def __init__(
        self, board: Board, told: Events[str | None], *, wanted: str | Missing | None, believed: str | None
    ) -> None:
        self._board = board
        self._told = told
        self.wanted = wanted
        self._believed = believed
        self._seen = believed
        self._main_id: str | None = None

    @property
    def is_held(self) -> bool:
        """Whether somebody outside says which thread is to be in view."""
        return self.wanted is not MISSING

    def want(self, id: str | None) -> bool:
        """Note what the owner asks for; tells whether it is something else than before."""
        if self.wanted == id and self._believed == id:
            return False
        self.wanted = self._believed = id
        return True

    def arrived(self, *, by_owner: bool) -> None:
        """A thread came into view, perhaps because the owner asked for it."""
        self._main_id, self._seen = self._shown()
        if by_owner:
            self._believed = self._seen
        else:
            self._tell()

    def look(self) -> None:
        """The list has changed, and with it perhaps the id of the thread in view."""
        main_id, seen = self._shown()
        if self._main_id == main_id is not None and seen != self._seen:
            self._seen = seen
            self._tell()

    def _tell(self) -> None:
        if self._seen != self._believed:
            self._believed = self._seen
            self._told.emit(self._seen)

    def _shown(self) -> tuple[str | None, str | None]:
        main_id = self._board.state.main_id
        record = None if main_id is None else self._board.listing.find(main_id)
        return (None, None) if record is None else (record.id, record.remote_id)
