"""What was handed in cannot be used."""

from __future__ import annotations

from ._root import PartwiseError


class InvalidInputError(PartwiseError, ValueError):
    """A value handed to partwise cannot be used; nothing was changed."""

    code = "invalid-input"


class MessageLikeError(InvalidInputError):
    """A message-like value breaks a rule of its role.

    Attributes:
        code: Which rule, for example ``"unsupported-part"`` or ``"system-content"``.
        message_id: The id of the message, when it has one.
        part_index: The position of the part at fault, when it is about one part.
    """

    def __init__(self, text: str, *, code: str, message_id: str | None = None, part_index: int | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.message_id = message_id
        self.part_index = part_index


class WireError(InvalidInputError):
    """Data from a wire or a store does not describe what it should.

    Attributes:
        where: The path of the value at fault, for example ``"content.2.text"``.
        code: What is wrong with it, for example ``"line-too-long"``; ``"wire"`` if that has no name.
    """

    code = "wire"

    def __init__(self, text: str, *, where: str = "", code: str = "wire") -> None:
        super().__init__(text)
        self.where = where
        self.code = code


class StateOperationError(WireError):
    """A change of streamed state cannot be applied; the state is as it was.

    Attributes:
        code: Why not, for example ``"not-a-string"`` or ``"index-out-of-bounds"``.
        path: Where it should have been applied.
    """

    def __init__(self, text: str, *, code: str, path: tuple[str, ...] = ()) -> None:
        super().__init__(text, where=".".join(path), code=code)
        self.path = path


class ToolDefinitionError(InvalidInputError):
    """A function cannot become a tool.

    Attributes:
        tool_name: The name of the tool.
    """

    code = "tool-definition"

    def __init__(self, tool_name: str, why: str) -> None:
        super().__init__(f"Tool {tool_name!r} cannot be defined: {why}")
        self.tool_name = tool_name


class ToolArgumentsError(InvalidInputError):
    """The arguments of a tool call are no complete JSON object, or do not fit the tool; it is not run.

    Attributes:
        tool_name: The name of the tool.
        tool_call_id: The call.
        fields: The paths of the arguments at fault, empty if the text as a whole is.
    """

    code = "tool-arguments"

    def __init__(self, tool_name: str, tool_call_id: str, why: str, *, fields: tuple[str, ...] = ()) -> None:
        super().__init__(f"Invalid arguments for tool {tool_name!r}: {why}.")
        self.tool_name = tool_name
        self.tool_call_id = tool_call_id
        self.fields = fields


class FeedError(InvalidInputError):
    """What the owner of an external store gave is no feed, or holds what a strict one must not.

    Attributes:
        code: What is wrong, for example ``"invalid-store"`` or ``"duplicate-id"``.
    """

    def __init__(self, text: str, *, code: str = "invalid-store") -> None:
        super().__init__(text)
        self.code = code


class QueuePlacementError(InvalidInputError):
    """A waiting message cannot go where it was told to; nothing was moved.

    Attributes:
        code: ``"self-anchor"`` or ``"not-adjacent"``.
    """

    def __init__(self, text: str, *, code: str) -> None:
        super().__init__(text)
        self.code = code


class CycleError(InvalidInputError):
    """A message would become its own ancestor.

    Attributes:
        message_id: The message to be moved.
        parent_id: The parent that lies at or below it.
    """

    code = "cycle"

    def __init__(self, message_id: str, parent_id: str | None) -> None:
        super().__init__(
            f"Message {message_id!r} cannot be put under {parent_id!r}: that message lies at or below it. "
            "Choose a parent outside of its own branch."
        )
        self.message_id = message_id
        self.parent_id = parent_id


class NothingToResumeError(InvalidInputError):
    """A run was to be resumed without the stream that goes on.

    Attributes:
        parent_id: The message that was to be answered.
    """

    code = "stream-required"

    def __init__(self, parent_id: str | None) -> None:
        super().__init__(
            f"The run under {parent_id!r} can only be resumed with a stream that yields its answer, for example one "
            "that reads a resumable stream. Use start_run to ask the model again."
        )
        self.parent_id = parent_id


class StreamIdError(InvalidInputError):
    """A resumable stream cannot have that id.

    Attributes:
        stream_id: The id.
    """

    code = "invalid-id"

    def __init__(self, stream_id: object) -> None:
        shown = repr(stream_id)
        super().__init__(
            f"{shown if len(shown) <= 80 else shown[:80] + '…'} is no id of a stream. "
            "Use 1 to 256 letters, digits, and the characters - _ . : of ASCII."
        )
        self.stream_id = stream_id


class CursorError(InvalidInputError):
    """A resumable stream has no such place, so nothing can follow it exactly once.

    Attributes:
        stream_id: The stream.
        cursor: The place that was given.
    """

    code = "invalid-cursor"

    def __init__(self, stream_id: str, cursor: str) -> None:
        super().__init__(
            f"Stream {stream_id!r} has no place {cursor!r}: it is none of its cursors, or comes after its end. "
            "Read the stream from its start, and put what was read before aside."
        )
        self.stream_id = stream_id
        self.cursor = cursor


class SelectorError(InvalidInputError):
    """A selector or an address cannot be used on this store."""

    code = "selector"
