"""The definition of a tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias

import attrs

from partwise.errors import ToolDefinitionError
from partwise.messages import ApprovalOption, freeze, is_blank

from ._call_reader import CallReader
from ._context import ToolContext
from ._response import ModelOutput

__all__ = ["Display", "Execute", "NeedsApproval", "StreamCall", "ToModelOutput", "Tool", "ToolKind", "Validate"]

ToolKind: TypeAlias = Literal["frontend", "backend", "human", "provider"]
Display: TypeAlias = Literal["standalone", "inline"]
# Gets the bound arguments. The result, or what an awaitable gives, is any JSON value or a ToolResponse.
Execute: TypeAlias = Callable[[Mapping[str, Any], ToolContext], Any]
Validate: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
NeedsApproval: TypeAlias = bool | Callable[[Mapping[str, Any]], bool | Awaitable[bool]]
StreamCall: TypeAlias = Callable[[CallReader, ToolContext], Awaitable[object]]
ToModelOutput: TypeAlias = Callable[[Any], ModelOutput | Awaitable[ModelOutput]]


def _default_display(tool: Tool) -> Display:
    return "standalone" if tool.kind == "human" else "inline"


def _options(options: tuple[ApprovalOption, ...] | list[ApprovalOption]) -> tuple[ApprovalOption, ...]:
    return tuple(options)


@attrs.frozen(kw_only=True, eq=False)
class Tool:
    """Something a model may call. Two tools are equal only if they are the same object.

    Attributes:
        name: What the model calls it.
        kind: ``"frontend"`` runs here, ``"human"`` is answered by a person, ``"backend"`` runs
            elsewhere and is known here for its UI only, ``"provider"`` is a tool of the model's
            provider.
        description: What the model is told about it.
        parameters: The JSON schema of the arguments, an object schema.
        execute: Runs it; gets the bound arguments and the context. None: it does not run here. A
            plain function runs in a worker thread; an async generator's last value is the result,
            the values before it are preliminary.
        validate: Turns parsed arguments into what ``execute`` gets; raises ``ValueError`` (pydantic's
            ``ValidationError`` is one) if they do not fit. None: any JSON object will do.
        needs_approval: Whether a human must permit each call; a function decides by the arguments.
        approval_options: The answers offered to that human; empty for plain yes and no.
        to_model_output: Makes what the model reads out of a successful result.
        stream_call: Called when a call begins, with a reader of its arguments as they are written; see
            `tool_stream`. It shows what it reads; the call's result comes from ``execute``.
        on_invalid: Called in place of ``execute`` with arguments that are JSON but do not fit; None: that is
            an error for the model to read.
        display: How a UI lays its calls out.
        disabled: Neither offered to the model nor run.
        overwrite: Replaces a tool of the same name and priority instead of conflicting with it.
        timeout: Seconds after which a call is given up; None for never.
        known_to_backend: The backend has its parameters already, so they are not sent.
        provider_options: Whatever a provider wants to know, by provider name; carried untouched.
    """

    name: str
    kind: ToolKind
    description: str | None = None
    parameters: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze, repr=False)
    execute: Execute | None = attrs.field(default=None, repr=False)
    validate: Validate | None = attrs.field(default=None, repr=False)
    needs_approval: NeedsApproval = False
    approval_options: tuple[ApprovalOption, ...] = attrs.field(default=(), converter=_options)
    to_model_output: ToModelOutput | None = attrs.field(default=None, repr=False)
    stream_call: StreamCall | None = attrs.field(default=None, repr=False)
    on_invalid: Execute | None = attrs.field(default=None, repr=False)
    display: Display = attrs.field(default=attrs.Factory(_default_display, takes_self=True))
    disabled: bool = False
    overwrite: bool = False
    timeout: float | None = None
    known_to_backend: bool = False
    provider_options: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)

    def __attrs_post_init__(self) -> None:
        if is_blank(self.name):
            raise ToolDefinitionError(self.name, "a tool needs a name.")
        if self.timeout is not None and self.timeout <= 0:
            raise ToolDefinitionError(self.name, f"its timeout is {self.timeout} seconds; give more than 0, or None.")

    @property
    def runs_here(self) -> bool:
        """Whether a call of it is executed by the runtime."""
        return self.kind == "frontend" and self.execute is not None

    @classmethod
    def from_schema(
        cls,
        name: str,
        parameters: Mapping[str, Any],
        execute: Execute | None = None,
        *,
        kind: ToolKind = "frontend",
        description: str | None = None,
        needs_approval: NeedsApproval = False,
        approval_options: tuple[ApprovalOption, ...] = (),
        to_model_output: ToModelOutput | None = None,
        timeout: float | None = None,
        provider_options: Mapping[str, Any] | None = None,
    ) -> Tool:
        """Make a tool from a plain JSON schema; arguments are not checked beyond being a JSON object.

        Args:
            name: What the model calls it.
            parameters: An object schema, sent as it is.
            execute: Called with the arguments as one mapping, and the context.
            kind: Who runs it.
            description: What the model is told about it.
            needs_approval: See ``Tool``; so are the others.
            approval_options: The answers offered to the human.
            to_model_output: Makes what the model reads.
            timeout: Seconds after which a call is given up.
            provider_options: Carried untouched.

        Raises:
            ToolDefinitionError: The schema does not describe an object.
        """
        if parameters.get("type", "object") != "object":
            raise ToolDefinitionError(name, f"its parameters must be an object schema, not {parameters['type']!r}.")
        return cls(
            name=name,
            kind=kind,
            description=description,
            parameters={"type": "object", **parameters},
            execute=execute,
            needs_approval=needs_approval,
            approval_options=approval_options,
            to_model_output=to_model_output,
            timeout=timeout,
            provider_options=provider_options,
        )
