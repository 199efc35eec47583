"""What a model is told beside the conversation, and how several sources of it become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

import attrs

from partwise.errors import ToolConflictError
from partwise.messages import FrozenDict, freeze, is_blank

from ._tool import Tool

__all__ = [
    "ContextProvider",
    "ModelContext",
    "ModelContextProvider",
    "context_of",
    "join_system",
    "merge_contexts",
    "tools_for_backend",
]


def _tools(tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
    return FrozenDict(tools)


@attrs.frozen(kw_only=True)
class ModelContext:
    """What a model is told beside the conversation.

    Attributes:
        system: Instructions.
        tools: What it may call, by name.
        call_settings: ``max_tokens``, ``temperature``, ``top_p``, ``seed``, ``headers`` and the like.
        config: ``api_key``, ``base_url``, ``model_name``, ``reasoning_effort`` and the like.
        composer_metadata: Laid over the custom metadata of an outgoing user message; models never see it.
        priority: Of two contexts that disagree, the higher one is right.
    """

    system: str | None = None
    tools: Mapping[str, Tool] = attrs.field(factory=FrozenDict, converter=_tools)
    call_settings: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)
    config: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze, repr=False)
    composer_metadata: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)
    priority: int = 0


@runtime_checkable
class ModelContextProvider(Protocol):
    """An object that contributes to a model's context; a ``Toolkit`` is one.

    It may also have ``subscribe(on_change)``, which returns a function that ends the subscription.
    """

    def get_model_context(self) -> ModelContext:
        """Return what it contributes at this moment."""
        ...


ContextProvider: TypeAlias = ModelContextProvider | Callable[[], ModelContext]


def context_of(provider: ContextProvider) -> ModelContext:
    """Return what a provider contributes: an object's ``get_model_context()``, or what a function returns."""
    return provider.get_model_context() if isinstance(provider, ModelContextProvider) else provider()


def join_system(texts: Iterable[str | None]) -> str | None:
    """Join instructions with a blank line between them; blank ones are left out."""
    return "\n\n".join(text for text in texts if text is not None and not is_blank(text)) or None


def merge_contexts(contexts: Iterable[ModelContext]) -> ModelContext:
    """Fold contexts into one; the higher priority wins, among equals the earlier one.

    System texts are joined, the highest priority first. Settings, config and composer metadata are
    laid over each other key by key. Tools of one name are merged field by field if their priorities
    differ; the same tool object may come from several contexts.

    Args:
        contexts: In the order of registration.

    Raises:
        ToolConflictError: Two tools of one name and priority, and the later one does not overwrite.
    """
    ordered = sorted(contexts, key=lambda context: -context.priority)
    tools: dict[str, tuple[Tool, int]] = {}
    for context in ordered:
        for name, tool in context.tools.items():
            tools[name] = _merge_tool(tools.get(name), tool, context.priority)
    return ModelContext(
        system=join_system(context.system for context in ordered),
        tools={name: _settled(tool) for name, (tool, _) in tools.items()},
        call_settings=_overlay(context.call_settings for context in ordered),
        config=_overlay(context.config for context in ordered),
        composer_metadata=_overlay(context.composer_metadata for context in ordered),
        priority=ordered[0].priority if ordered else 0,
    )


def tools_for_backend(
    context: ModelContext, include: Callable[[str, Tool], bool] | None = None
) -> dict[str, dict[str, Any]]:
    """Return the tools as a backend or a model's provider wants to hear of them.

    They are sorted by name, so that the request is the same whatever the order of registration, and
    a provider's prompt cache holds.

    Args:
        context: Whose tools.
        include: Which ones, by name and tool. By default all that are enabled and answered on this
            side: human tools, and frontend tools with a function. Those without a schema, and
            those the backend knows already, are never included.

    Returns:
        By name: ``parameters``, and ``description`` and ``provider_options`` where there are any.
    """
    wanted = include or _is_offered
    return {
        name: _described(tool, tool.parameters)
        for name, tool in sorted(context.tools.items())
        if tool.parameters is not None and not tool.known_to_backend and wanted(name, tool)
    }


def _is_offered(name: str, tool: Tool) -> bool:
    return not tool.disabled and tool.kind != "backend" and (tool.kind != "frontend" or tool.execute is not None)


def _described(tool: Tool, parameters: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"description": tool.description} if tool.description else {}
    entry["parameters"] = parameters
    if tool.provider_options is not None:
        entry["provider_options"] = tool.provider_options
    return entry


def _overlay(settings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for layer in settings:
        merged = {**layer, **merged}
    return merged


def _merge_tool(known: tuple[Tool, int] | None, tool: Tool, priority: int) -> tuple[Tool, int]:
    if known is None:
        return tool, priority
    higher, remembered = known
    if tool is higher:
        return known
    if priority != remembered:
        return _fill(higher, tool), remembered
    if not tool.overwrite:
        raise ToolConflictError(tool.name)
    return tool, priority


def _fill(higher: Tool, lower: Tool) -> Tool:
    """Return the higher tool with what it leaves open taken from the lower one."""
    open_fields = ("description", "parameters", "to_model_output", "timeout", "provider_options")
    taken: dict[str, Any] = {name: getattr(lower, name) for name in open_fields if getattr(higher, name) is None}
    if higher.execute is None and higher.kind == lower.kind:
        # A function and the validator that binds its arguments belong together.
        taken |= {"execute": lower.execute, "validate": lower.validate}
    if higher.needs_approval is False:
        # Leaving the question open never takes a gate away.
        taken |= {"needs_approval": lower.needs_approval}
    return attrs.evolve(
        higher,
        approval_options=higher.approval_options or lower.approval_options,
        disabled=higher.disabled or lower.disabled,
        known_to_backend=higher.known_to_backend or lower.known_to_backend,
        **taken,
    )


def _settled(tool: Tool) -> Tool:
    return attrs.evolve(tool, overwrite=False) if tool.overwrite else tool
