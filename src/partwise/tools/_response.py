"""What running a tool gives: a result for the model, and what comes beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import attrs

from partwise.messages import MISSING, FileContent, Message, ModelContent, TextContent, Timing, freeze

__all__ = ["NO_RESULT", "ModelOutput", "ToolResponse", "error_response", "model_content_from"]

# What stands in for a result that was never given; a result that is None is a result.
NO_RESULT = "<no result>"

ModelOutput: TypeAlias = str | Sequence[ModelContent]


def model_content_from(output: str | Iterable[object]) -> tuple[ModelContent, ...]:
    """Return what a model reads as a tuple of contents; a string is one text.

    Raises:
        TypeError: Something in it is neither text nor file content.
    """
    if isinstance(output, str):
        return (TextContent(output),)
    contents: list[ModelContent] = []
    for content in output:
        if not isinstance(content, (TextContent, FileContent)):
            message = f"a model reads TextContent and FileContent, not {type(content).__name__}"
            raise TypeError(message)
        contents.append(content)
    return tuple(contents)


def _model_content(output: ModelOutput | None) -> tuple[ModelContent, ...] | None:
    return None if output is None else model_content_from(output)


def _messages(messages: Sequence[Message] | None) -> tuple[Message, ...] | None:
    return None if messages is None else tuple(messages)


@attrs.frozen
class ToolResponse:
    """The answer to a tool call. A tool returns one when its result alone does not say everything.

    Attributes:
        result: What the model is told, and the UI may show. ``None`` is a result.
        artifact: A payload for the UI only; never sent to the model.
        is_error: Whether the result tells of a failure.
        model_content: What the model reads instead of the result; a string is one text.
        messages: The conversation of a sub-agent that ran inside the call.
        timing: When the tool began and ended; filled in by ``run_tool``.
    """

    result: Any = attrs.field(default=MISSING, converter=freeze)
    artifact: Any = attrs.field(default=MISSING, converter=freeze, kw_only=True)
    is_error: bool = attrs.field(default=False, kw_only=True)
    model_content: tuple[ModelContent, ...] | None = attrs.field(default=None, converter=_model_content, kw_only=True)
    messages: tuple[Message, ...] | None = attrs.field(default=None, converter=_messages, kw_only=True)
    timing: Timing | None = attrs.field(default=None, kw_only=True)


def error_response(message: str, *, timing: Timing | None = None) -> ToolResponse:
    """Return the response of a call that failed: the model reads ``{"error": message}``."""
    return ToolResponse({"error": message}, is_error=True, timing=timing)
