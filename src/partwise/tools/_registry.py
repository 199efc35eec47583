"""A place where tools, instructions and providers come and go while the program runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import attrs
from reactivex import Subject

from ._context import Report, log_failure
from ._model_context import ContextProvider, ModelContext, context_of, join_system, merge_contexts
from ._tool import Tool

__all__ = ["Instruction", "InstructionHandle", "ModelContextRegistry", "ProviderHandle", "ToolHandle"]


@runtime_checkable
class _Subscribable(Protocol):
    def subscribe(self, on_change: Callable[[], None], /) -> Callable[[], None]: ...


@attrs.frozen
class Instruction:
    """A piece of system text; a disabled one is kept but not said."""

    text: str
    disabled: bool = False


class ModelContextRegistry:
    """Tools, instructions and providers that are registered one by one and together make one context.

    A runtime takes it as a provider. Every registration stands for itself, also of equal things, and
    is changed or taken back through the handle that registering returns.

    Args:
        on_change: Called after each change; given by whoever reads the context. What it raises
            reaches the caller that made the change, which stays in force.
        on_report: Gets a failure of ``on_change`` that would hide a more important one.
    """

    def __init__(self, on_change: Callable[[], None] | None = None, *, on_report: Report = log_failure) -> None:
        self._on_change = on_change
        self._report = on_report
        self._changes: Subject[None] = Subject()
        self._tools: dict[object, Tool] = {}
        self._instructions: dict[object, Instruction] = {}
        self._providers: dict[object, ContextProvider] = {}

    def add_tool(self, tool: Tool) -> ToolHandle:
        """Register a tool; of two with one name the later registration is offered."""
        handle = ToolHandle(self._tools, self._changed)
        self._tools[handle] = tool
        self._changed()
        return handle

    def add_instruction(self, text: str | Instruction, *, disabled: bool = False) -> InstructionHandle:
        """Register a piece of system text; pieces are said in the order of their registration."""
        handle = InstructionHandle(self._instructions, self._changed)
        handle.update(text, disabled=disabled)
        return handle

    def add_provider(self, provider: ContextProvider) -> ProviderHandle:
        """Register a provider; one that can be subscribed to announces its changes from now on.

        A provider that is registered twice counts once.

        Raises:
            Exception: What the provider's ``subscribe`` raised; it is then not registered.
        """
        handle = ProviderHandle(self._providers, self._changed)
        self._providers[handle] = provider
        if isinstance(provider, _Subscribable):
            try:
                handle.unsubscribe = provider.subscribe(self._changed)
            except Exception:
                del self._providers[handle]
                self._changed_quietly()
                raise
        self._changed()
        return handle

    def get_model_context(self) -> ModelContext:
        """Return everything that is registered at this moment, as one context.

        Own instructions come before those of the providers; a provider's tool takes precedence over
        an own one of the same name. Settings come from providers only.

        Raises:
            ToolConflictError: Two providers of one priority disagree about a tool.
        """
        distinct = {id(provider): provider for provider in self._providers.values()}
        provided = merge_contexts(context_of(provider) for provider in distinct.values())
        own = join_system(item.text for item in self._instructions.values() if not item.disabled)
        tools = {tool.name: tool for tool in self._tools.values()}
        return attrs.evolve(
            provided,
            system=join_system((own, provided.system)),
            tools=_without_overwrite(tools) | dict(provided.tools),
        )

    def subscribe(self, on_change: Callable[[], None], /) -> Callable[[], None]:
        """Be told of every change too, as a registry that holds this one is; what that raises is reported.

        Returns:
            A function that ends the subscription.
        """

        def tell(_: None) -> None:
            try:
                on_change()
            except Exception as failure:
                self._report(failure)

        return self._changes.subscribe(tell).dispose

    def _changed(self) -> None:
        self._changes.on_next(None)
        if self._on_change is not None:
            self._on_change()

    def _changed_quietly(self) -> None:
        try:
            self._changed()
        except Exception as failure:
            self._report(failure)


class ToolHandle:
    """A registered tool."""

    def __init__(self, entries: dict[object, Tool], changed: Callable[[], None]) -> None:
        self._entries = entries
        self._changed = changed

    def update(self, tool: Tool) -> None:
        """Put another tool in its place; nothing happens once it was removed."""
        if self in self._entries:
            self._entries[self] = tool
            self._changed()

    def remove(self) -> None:
        """Take it back; doing so again only announces a change again."""
        self._entries.pop(self, None)
        self._changed()


class InstructionHandle:
    """A registered piece of system text."""

    def __init__(self, entries: dict[object, Instruction], changed: Callable[[], None]) -> None:
        self._entries = entries
        self._changed = changed
        self._removed = False

    def update(self, text: str | Instruction, *, disabled: bool = False) -> None:
        """Say something else; nothing happens once it was removed.

        One that was disabled and is enabled again goes to the end.
        """
        if self._removed:
            return
        instruction = Instruction(text, disabled) if isinstance(text, str) else text
        if instruction.disabled:
            self._entries.pop(self, None)
        else:
            self._entries[self] = instruction
        self._changed()

    def remove(self) -> None:
        """Take it back; doing so again only announces a change again."""
        self._removed = True
        self._entries.pop(self, None)
        self._changed()


class ProviderHandle:
    """A registered provider.

    Attributes:
        unsubscribe: Ends the subscription to the provider's changes; None if there is none.
    """

    def __init__(self, entries: dict[object, ContextProvider], changed: Callable[[], None]) -> None:
        self._entries = entries
        self._changed = changed
        self.unsubscribe: Callable[[], None] | None = None

    def remove(self) -> None:
        """Take the provider back and end its subscription; doing so again only announces a change again."""
        self._entries.pop(self, None)
        unsubscribe, self.unsubscribe = self.unsubscribe, None
        try:
            if unsubscribe is not None:
                unsubscribe()
        finally:
            self._changed()


def _without_overwrite(tools: dict[str, Tool]) -> dict[str, Tool]:
    return {name: attrs.evolve(tool, overwrite=False) if tool.overwrite else tool for name, tool in tools.items()}
