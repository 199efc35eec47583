"""The values that go in and out of a tree: places, changes, exports."""

from typing import ClassVar, Generic, Protocol, TypeAlias, TypeVar

import attrs


class Identified(Protocol):
    """Anything with an id can be kept in a tree."""

    @property
    def id(self) -> str:
        """The id; unique in its tree."""
        ...


M = TypeVar("M", bound=Identified)


@attrs.frozen
class Place(Generic[M]):
    """Where a message is.

    Attributes:
        message: The message as it is stored now.
        parent_id: The message above it, or None at the root.
        index: How many messages are above it.
        visible: Whether it lies on the visible path.
    """

    message: M
    parent_id: str | None
    index: int
    visible: bool


@attrs.frozen
class Unchanged:
    """The visible path holds the same messages as before.

    Attributes:
        branched: Ids of visible messages whose alternatives changed.
    """

    branched: tuple[str, ...] = ()


@attrs.frozen
class Replaced(Generic[M]):
    """One visible message was replaced by a newer version of itself.

    Attributes:
        index: Its position on the visible path.
        message: The newer version.
        branched: Always empty: an update changes nobody's alternatives.
    """

    branched: ClassVar[tuple[str, ...]] = ()
    index: int
    message: M


@attrs.frozen
class Appended(Generic[M]):
    """One message was added at the end of the visible path.

    Attributes:
        message: The new last message.
        branched: Ids of messages further up whose alternatives changed.
    """

    message: M
    branched: tuple[str, ...] = ()


@attrs.frozen
class Rebuilt(Generic[M]):
    """The visible path is another one from some position on.

    Attributes:
        kept: How many messages at the front are the same objects as before.
        messages: The messages that now follow them; alternatives of all of these may have changed.
        branched: Ids of kept messages whose alternatives changed.
    """

    kept: int
    messages: tuple[M, ...]
    branched: tuple[str, ...] = ()


Change: TypeAlias = Unchanged | Replaced[M] | Appended[M] | Rebuilt[M]


@attrs.frozen
class Entry(Generic[M]):
    """One message of an export.

    Attributes:
        parent_id: The message above it, or None at the root.
        message: The message.
    """

    parent_id: str | None
    message: M


@attrs.frozen
class Export(Generic[M]):
    """Everything that is worth keeping of a tree.

    Attributes:
        head_id: The last visible message, or None to let the import choose.
        entries: The messages; children of one parent are in the order of their branches.
    """

    head_id: str | None
    entries: tuple[Entry[M], ...]
