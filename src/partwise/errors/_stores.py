"""What the rules of a store forbid."""

from __future__ import annotations

from ._root import PartwiseError


class StoreError(PartwiseError):
    """A store was used in a way that its rules forbid."""

    code = "store"


class WrongThreadError(StoreError):
    """A commit came from a thread that does not own the store; use ``store.post`` there."""

    code = "wrong-thread"


class WrongEventLoopError(StoreError):
    """A store works over a library that this kind of event loop cannot run."""

    code = "wrong-event-loop"


class StoreClosedError(StoreError):
    """The store was closed; its last snapshot can still be read."""

    code = "store-closed"


class RuntimeClosedError(StoreError):
    """The runtime was closed, or not entered yet with ``async with``."""

    code = "runtime-closed"
