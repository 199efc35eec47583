"""A title for each new thread, once there is something to make it of."""

from __future__ import annotations

from collections.abc import Callable

from reactivex import operators as ops

from partwise.runtimes._operation import Operation
from partwise.store import ThreadState

from ._board import Board
from ._lives import Lives
from ._mutations import settled_messages

__all__ = ["arm_title"]


def arm_title(id: str, board: Board, lives: Lives, generate: Callable[[str], Operation]) -> None:
    """Have a title made when a thread has its first message that does not grow any more.

    Usually that is the user's, so the title comes while the answer does. A thread that has a title by then
    keeps it; one that is closed before gets none.
    """
    live = lives.get(id)
    if "generate_title" not in board.state.capabilities or live is None or live.thread is None:
        return

    def on_settled(_has: bool) -> None:
        record = board.listing.find(id)
        is_former = board.former is not None and id in board.former
        if record is not None and record.title is None and not is_former:
            generate(id)

    slice_ = live.thread.select(_has_settled)
    live.watching.append(slice_.pipe(ops.filter(bool), ops.take(1)).subscribe(on_settled))


def _has_settled(state: ThreadState) -> bool:
    return bool(settled_messages(tuple(state.messages[:1]))) or bool(settled_messages(tuple(state.messages)))
