"""Several contexts become one, by rules that leave nothing to the order of accidents."""

from __future__ import annotations

import random
from typing import Any

import pytest

from partwise.errors import ToolConflictError
from partwise.tools import ModelContext, Tool, Toolkit, context_of, merge_contexts, tools_for_backend


def tool(name: str = "t", **more: Any) -> Tool:
    return Tool(name=name, **{"kind": "frontend", **more})


def holding(*tools: Tool, priority: int = 0) -> ModelContext:
    return ModelContext(tools={item.name: item for item in tools}, priority=priority)


def test_nothing_merges_into_an_empty_context() -> None:
    assert merge_contexts([]) == ModelContext()


def test_system_texts_are_joined_by_priority_and_then_by_registration() -> None:
    texts = [("c", 0), ("", 9), ("a", 5), (None, 5), (" ", 5), ("d", 0), ("e", -1), ("b", 5)]

    merged = merge_contexts(ModelContext(system=text, priority=priority) for text, priority in texts)

    assert merged.system == "a\n\nb\n\nc\n\nd\n\ne"
    assert merge_contexts([ModelContext(system="")]).system is None


def test_the_higher_priority_wins_for_every_kind_of_setting() -> None:
    low = ModelContext(
        call_settings={"temperature": 0, "seed": 1}, config={"model_name": "low"}, composer_metadata={"a": 1, "b": 1}
    )
    high = ModelContext(
        call_settings={"temperature": 1}, config={"model_name": "high"}, composer_metadata={"a": 2}, priority=1
    )

    for order in ([low, high], [high, low]):
        merged = merge_contexts(order)
        assert merged.call_settings == {"temperature": 1, "seed": 1}
        assert merged.config == {"model_name": "high"}
        assert merged.composer_metadata == {"a": 2, "b": 1}
        assert merged.priority == 1


def test_the_same_tool_from_two_sources_is_one_tool() -> None:
    shared = tool()

    assert merge_contexts([holding(shared), holding(shared), holding(shared, priority=1)]).tools["t"] is shared


def test_two_equal_looking_tools_of_one_priority_are_a_conflict() -> None:
    with pytest.raises(ToolConflictError, match="'t' is defined twice") as caught:
        merge_contexts([holding(tool()), holding(tool())])

    assert caught.value.tool_name == "t"


def test_a_tool_may_overwrite_an_earlier_one_of_its_priority() -> None:
    merged = merge_contexts([holding(tool(description="old")), holding(tool(description="new", overwrite=True))])

    assert (merged.tools["t"].description, merged.tools["t"].overwrite) == ("new", False)


def test_tools_of_different_priority_are_merged_field_by_field() -> None:
    def run(arguments: Any, context: Any) -> None: ...

    low = tool(description="low", parameters={"type": "object"}, execute=run, timeout=5, disabled=True)
    high = tool(description="high", timeout=1)

    for order in ([holding(low), holding(high, priority=1)], [holding(high, priority=1), holding(low)]):
        merged = merge_contexts(order).tools["t"]
        assert (merged.description, merged.timeout, merged.execute) == ("high", 1, run)
        assert merged.parameters == {"type": "object"}
        assert merged.disabled
    assert (high.execute, high.parameters) == (None, None)
    assert (low.description, low.timeout) == ("low", 5)


def test_a_function_keeps_the_validator_it_was_made_with() -> None:
    def run(arguments: Any, context: Any) -> None: ...

    low = tool(execute=run, validate=dict)
    other = tool(execute=lambda arguments, context: None)

    assert merge_contexts([holding(low), holding(other, priority=1)]).tools["t"].validate is None
    assert merge_contexts([holding(low), holding(tool(), priority=1)]).tools["t"].validate is dict


def test_merging_never_takes_a_gate_away() -> None:
    gated, free = tool(needs_approval=True), tool()

    assert merge_contexts([holding(gated), holding(free, priority=1)]).tools["t"].needs_approval is True
    assert merge_contexts([holding(free), holding(gated, priority=1)]).tools["t"].needs_approval is True


def test_a_tool_that_somebody_else_answers_does_not_get_a_function_by_merging() -> None:
    low = tool(execute=lambda arguments, context: None)

    assert merge_contexts([holding(low), holding(tool(kind="human"), priority=1)]).tools["t"].execute is None


def test_a_merged_tool_counts_with_the_higher_priority() -> None:
    merged = merge_contexts(
        [holding(tool(description="a"), priority=2), holding(tool(timeout=3), priority=1), holding(tool(timeout=4))]
    )

    assert (merged.tools["t"].description, merged.tools["t"].timeout) == ("a", 3)


@pytest.mark.parametrize("name", ["constructor", "__class__", "__proto__", "get", "items"])
def test_a_tool_may_have_the_name_of_a_built_in_member(name: str) -> None:
    context = holding(tool(name, parameters={}, execute=lambda arguments, context: None))

    assert list(merge_contexts([context]).tools) == [name]
    assert list(tools_for_backend(context)) == [name]
    assert name not in ModelContext().tools


def test_a_context_cannot_be_changed_through_its_tools() -> None:
    tools: dict[str, Tool] = {}
    context: Any = ModelContext(tools=tools)
    tools["t"] = tool()

    assert context.tools == {}
    with pytest.raises(TypeError):
        context.tools["t"] = tool()


def test_a_provider_is_a_function_or_an_object() -> None:
    context = ModelContext(system="x")

    assert context_of(lambda: context) is context
    assert context_of(Toolkit(system="x")) == context


def run(arguments: Any, context: Any) -> None: ...


def test_a_backend_hears_of_tools_in_one_order_whatever_their_registration() -> None:
    tools = [tool(name, parameters={"type": "object"}, execute=run, description="d") for name in "bcadZ"]
    orders = [random.Random(seed).sample(tools, len(tools)) for seed in range(5)]

    described = [list(tools_for_backend(holding(*order)).items()) for order in orders]

    assert [name for name, _ in described[0]] == ["Z", "a", "b", "c", "d"]
    assert all(other == described[0] for other in described)


def test_a_backend_hears_only_of_what_is_answered_here() -> None:
    schema: dict[str, Any] = {"type": "object"}
    context = holding(
        tool("runs", parameters=schema, execute=run, provider_options={"p": {"cache": True}}),
        tool("asked", kind="human", parameters=schema, description=""),
        tool("provided", kind="provider", parameters=schema),
        tool("no function", parameters=schema),
        tool("no schema", execute=run),
        tool("disabled", parameters=schema, execute=run, disabled=True),
        tool("elsewhere", kind="backend", parameters=schema),
        tool("known", parameters=schema, execute=run, known_to_backend=True),
    )

    assert tools_for_backend(context) == {
        "asked": {"parameters": schema},
        "provided": {"parameters": schema},
        "runs": {"parameters": schema, "provider_options": {"p": {"cache": True}}},
    }


def test_another_choice_replaces_the_default_one() -> None:
    schema: dict[str, Any] = {"type": "object"}
    context = holding(
        tool("disabled", parameters=schema, disabled=True),
        tool("no schema", execute=run),
        tool("known", parameters=schema, known_to_backend=True),
        tool("other", parameters=schema, execute=run),
    )

    assert list(tools_for_backend(context, lambda name, item: item.disabled or name != "other")) == ["disabled"]
