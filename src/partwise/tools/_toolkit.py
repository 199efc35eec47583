"""A toolkit: typed functions, collected as tools."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, TypedDict, TypeVar, Unpack, overload

from partwise.errors import ToolDefinitionError
from partwise.messages import ApprovalOption

from ._context import ToolContext
from ._model_context import ModelContext
from ._signature import description_of, signature_of
from ._tool import Display, Execute, NeedsApproval, StreamCall, ToModelOutput, Tool, ToolKind

__all__ = ["ToolOptions", "Toolkit", "tool_from_function"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class ToolOptions(TypedDict, total=False):
    """What may be said about a tool beyond its function, name and description; each is described at ``Tool``."""

    needs_approval: NeedsApproval
    approval_options: tuple[ApprovalOption, ...]
    to_model_output: ToModelOutput | None
    stream_call: StreamCall | None
    on_invalid: Execute | None
    display: Display
    disabled: bool
    overwrite: bool
    timeout: float | None
    known_to_backend: bool
    provider_options: Mapping[str, Any] | None


class Toolkit:
    """Tools made from functions by decorators; hand it to a runtime, which offers them to its model.

    A decorated function stays what it was and can be called as before. Iterating gives the tools,
    indexing by name gives one.

    Unless said otherwise a tool runs without asking: whoever decorates a function decides what it
    may do, and a bare chat has nobody to ask. ``Toolkit(needs_approval=True)`` turns that round for
    all tools of the kit.
    """

    def __init__(
        self, *tools: Tool, system: str | None = None, needs_approval: NeedsApproval = False, priority: int = 0
    ) -> None:
        self._tools: dict[str, Tool] = {}
        self._system = system
        self._needs_approval: NeedsApproval = needs_approval
        self._priority = priority
        for tool in tools:
            self.add(tool)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def add(self, tool: Tool) -> Tool:
        """Add a tool that was made elsewhere, for example by ``Tool.from_schema``.

        Raises:
            ToolDefinitionError: Another tool has its name, and it does not overwrite.
        """
        known = self._tools.get(tool.name)
        if known is not None and known is not tool and not tool.overwrite:
            raise ToolDefinitionError(tool.name, "this toolkit has a tool of that name; rename it or set overwrite.")
        self._tools[tool.name] = tool
        return tool

    def get_model_context(self) -> ModelContext:
        """Return what a model is to know: the tools of the kit and its system text."""
        return ModelContext(system=self._system, tools=dict(self._tools), priority=self._priority)

    @overload
    def frontend(self, function: _Function, /) -> _Function: ...
    @overload
    def frontend(
        self, *, name: str | None = None, description: str | None = None, **options: Unpack[ToolOptions]
    ) -> Callable[[_Function], _Function]: ...
    def frontend(
        self,
        function: Any = None,
        *,
        name: str | None = None,
        description: str | None = None,
        **options: Unpack[ToolOptions],
    ) -> Any:
        """Make a tool that runs here, in this process.

        Name, description and JSON schema come from the function; see ``Tool`` for the options. The
        function may be async, an async generator (its last value is the result), or plain: then it
        runs in a worker thread. A parameter annotated ``ToolContext`` gets the context of the call.

        Raises:
            ToolDefinitionError: The function cannot become a tool.
        """
        return self._decorate("frontend", function, name, description, options)

    @overload
    def human(self, function: _Function, /) -> _Function: ...
    @overload
    def human(
        self, *, name: str | None = None, description: str | None = None, **options: Unpack[ToolOptions]
    ) -> Callable[[_Function], _Function]: ...
    def human(
        self,
        function: Any = None,
        *,
        name: str | None = None,
        description: str | None = None,
        **options: Unpack[ToolOptions],
    ) -> Any:
        """Make a tool that a person answers; the signature gives the schema, the body is never run.

        Raises:
            ToolDefinitionError: The function cannot become a tool.
        """
        return self._decorate("human", function, name, description, options)

    @overload
    def backend(self, function: _Function, /) -> _Function: ...
    @overload
    def backend(
        self, *, name: str | None = None, description: str | None = None, **options: Unpack[ToolOptions]
    ) -> Callable[[_Function], _Function]: ...
    def backend(
        self,
        function: Any = None,
        *,
        name: str | None = None,
        description: str | None = None,
        **options: Unpack[ToolOptions],
    ) -> Any:
        """Make a tool that runs elsewhere and is only named here; schema and body are not used.

        Raises:
            ToolDefinitionError: The function cannot become a tool.
        """
        return self._decorate("backend", function, name, description, options)

    def _decorate(
        self,
        kind: ToolKind,
        function: object,
        name: str | None,
        description: str | None,
        options: ToolOptions,
    ) -> Any:
        if kind == "frontend":
            options.setdefault("needs_approval", self._needs_approval)

        def decorate(decorated: _Function) -> _Function:
            self.add(tool_from_function(decorated, kind, name=name, description=description, **options))
            return decorated

        if function is None:
            return decorate
        if not callable(function):
            raise ToolDefinitionError(str(function), f"it is not a function; write {kind}(name=...) for options.")
        return decorate(function)


def tool_from_function(
    function: Callable[..., Any],
    kind: ToolKind = "frontend",
    *,
    name: str | None = None,
    description: str | None = None,
    **options: Unpack[ToolOptions],
) -> Tool:
    """Make a tool from a function: its name, its docstring's prose, and the schema of its signature.

    Args:
        function: Any callable with annotated parameters.
        kind: Who runs it; only a frontend tool's function is ever called.
        name: Replaces the function's name.
        description: Replaces the function's prose.
        options: See ``Tool``.

    Raises:
        ToolDefinitionError: It has no name, or a parameter that no schema can describe.
    """
    if inspect.isclass(function):
        raise ToolDefinitionError(function.__name__, "it is a class; give a function.")
    own_name: str = getattr(function, "__name__", "")
    name = name or own_name
    if not name or name == "<lambda>":
        raise ToolDefinitionError(name, "it has no name of its own; give one.")
    if kind == "backend":
        return Tool(name=name, kind=kind, description=description, **options)
    signature = signature_of(function, name)
    return Tool(
        name=name,
        kind=kind,
        description=description or description_of(function),
        parameters=signature.parameters,
        validate=signature.validate,
        execute=_execute(function, signature.context_parameter) if kind == "frontend" else None,
        **options,
    )


def _execute(function: Callable[..., Any], context_parameter: str | None) -> Execute:
    """Adapt a function of keyword arguments, keeping visible whether it is async."""

    def bind(arguments: Mapping[str, Any], context: ToolContext) -> Any:
        beside = {} if context_parameter is None else {context_parameter: context}
        return function(**arguments, **beside)

    async def wait(arguments: Mapping[str, Any], context: ToolContext) -> Any:
        return await bind(arguments, context)

    async def stream(arguments: Mapping[str, Any], context: ToolContext) -> AsyncGenerator[Any, None]:
        async with aclosing(bind(arguments, context)) as values:
            async for value in values:
                yield value

    called = _called(function)
    if inspect.iscoroutinefunction(called):
        return wait
    if inspect.isasyncgenfunction(called):
        return stream
    return bind


def _called(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__
