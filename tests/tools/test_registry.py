"""Registrations come and go; every change is told once, and nothing is lost when telling fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from partwise.tools import Instruction, ModelContext, ModelContextRegistry, Tool, Toolkit


def tool(name: str = "t", **more: Any) -> Tool:
    return Tool(name=name, kind="frontend", **more)


class Registry(ModelContextRegistry):
    """Counts the changes that it announces."""

    def __init__(self, **more: Any) -> None:
        self.changes = 0
        super().__init__(self.count, **more)

    def count(self) -> None:
        self.changes += 1


class Source:
    """A provider that can be subscribed to."""

    def __init__(self, system: str = "source", fails: bool = False, at_once: bool = False) -> None:
        self.system = system
        self.fails = fails
        self.at_once = at_once
        self.ended = 0
        self.tell: Callable[[], None] | None = None

    def get_model_context(self) -> ModelContext:
        return ModelContext(system=self.system)

    def subscribe(self, on_change: Callable[[], None], /) -> Callable[[], None]:
        self.tell = on_change
        if self.at_once:
            on_change()
        if self.fails:
            raise LookupError("no subscription")
        return self.end

    def end(self) -> None:
        self.ended += 1


def test_an_empty_registry_contributes_nothing() -> None:
    assert ModelContextRegistry().get_model_context() == ModelContext()


def test_a_tool_can_be_registered_changed_and_taken_back() -> None:
    registry = Registry()
    first, second = tool(), tool("u")

    handle = registry.add_tool(first)
    assert registry.get_model_context().tools == {"t": first}
    handle.update(second)
    assert registry.get_model_context().tools == {"u": second}
    handle.remove()
    assert registry.get_model_context().tools == {}
    assert registry.changes == 3


def test_of_two_tools_with_one_name_the_later_one_counts_until_it_goes() -> None:
    registry = Registry()
    first, second = tool(), tool()
    registry.add_tool(first)
    handle = registry.add_tool(second)

    assert registry.get_model_context().tools["t"] is second
    handle.remove()
    assert registry.get_model_context().tools["t"] is first


def test_the_same_tool_registered_twice_stays_until_both_are_taken_back() -> None:
    registry, shared = Registry(), tool()
    handles = [registry.add_tool(shared), registry.add_tool(shared)]

    handles[0].remove()
    assert registry.get_model_context().tools == {"t": shared}
    handles[1].remove()
    assert registry.get_model_context().tools == {}


def test_changing_what_was_taken_back_does_nothing() -> None:
    registry = Registry()
    handle, instruction = registry.add_tool(tool()), registry.add_instruction("a")
    handle.remove()
    instruction.remove()
    changes = registry.changes

    handle.update(tool())
    instruction.update("b")

    assert registry.get_model_context() == ModelContext()
    assert registry.changes == changes


def test_taking_back_twice_is_harmless_and_announced() -> None:
    registry = Registry()
    handles = [registry.add_tool(tool()), registry.add_instruction("a"), registry.add_provider(Source())]

    for handle in handles:
        handle.remove()
        handle.remove()

    assert registry.get_model_context() == ModelContext()
    assert registry.changes == 9


def test_instructions_repeat_and_keep_their_order() -> None:
    registry = Registry()
    for text in ("a", "b", "a", "", "  "):
        registry.add_instruction(text)

    assert registry.get_model_context().system == "a\n\nb\n\na"


def test_an_instruction_changes_in_its_place_and_goes_to_the_end_when_enabled_again() -> None:
    registry = Registry()
    first = registry.add_instruction("a")
    registry.add_instruction("b")

    def said() -> str | None:
        return registry.get_model_context().system

    first.update("A")
    assert said() == "A\n\nb"
    first.update("A", disabled=True)
    assert said() == "b"
    first.update(Instruction("A"))
    assert said() == "b\n\nA"


def test_a_disabled_instruction_is_not_said() -> None:
    registry = Registry()
    handle = registry.add_instruction("a", disabled=True)
    registry.add_instruction(Instruction("b", disabled=True))

    assert registry.get_model_context().system is None
    handle.update("a")
    assert registry.get_model_context().system == "a"


def test_own_instructions_come_first_and_tools_of_providers_take_precedence() -> None:
    registry = Registry()
    mine, theirs = tool(overwrite=True), tool()
    registry.add_provider(
        lambda: ModelContext(system="theirs", tools={"t": theirs}, config={"model_name": "m"}, priority=9)
    )
    registry.add_instruction("mine")
    registry.add_tool(mine)
    registry.add_tool(tool("own", overwrite=True))

    context = registry.get_model_context()

    assert context.system == "mine\n\ntheirs"
    assert context.tools["t"] is theirs
    assert not context.tools["own"].overwrite
    assert context.config == {"model_name": "m"}


def test_a_provider_registered_twice_counts_once_until_both_are_taken_back() -> None:
    registry, source = Registry(), Source()
    handles = [registry.add_provider(source), registry.add_provider(source)]

    assert registry.get_model_context().system == "source"
    handles[0].remove()
    assert registry.get_model_context().system == "source"
    handles[1].remove()
    assert registry.get_model_context().system is None


def test_a_registry_and_a_toolkit_are_providers() -> None:
    outer, inner = Registry(), Registry()
    inner.add_instruction("inner")
    outer.add_provider(inner)
    outer.add_provider(Toolkit(tool()))

    assert outer.get_model_context().system == "inner"
    assert list(outer.get_model_context().tools) == ["t"]


def test_changes_of_a_registry_inside_another_are_announced_by_both() -> None:
    outer, other, inner = Registry(), Registry(), Registry()
    handle = outer.add_provider(inner)
    other.add_provider(inner)

    inner.add_instruction("a")
    handle.remove()
    inner.add_instruction("b")

    assert (outer.changes, other.changes, inner.changes) == (3, 3, 2)


def test_a_reader_that_raises_is_reported_and_the_others_are_told() -> None:
    reported: list[Exception] = []
    told: list[str] = []
    registry = Registry(on_report=reported.append)
    registry.subscribe(lambda: [][0])
    end = registry.subscribe(lambda: told.append("second"))

    registry.add_tool(tool())
    end()
    end()
    registry.add_tool(tool())

    assert (told, len(reported), registry.changes) == (["second"], 2, 2)


def test_changes_of_a_provider_are_announced_until_it_is_taken_back() -> None:
    registry, source = Registry(), Source()
    handle = registry.add_provider(source)
    assert source.tell is not None

    source.tell()
    handle.remove()
    handle.remove()

    assert registry.changes == 4
    assert source.ended == 1


def test_a_provider_may_announce_a_change_while_it_is_subscribed_to() -> None:
    registry = Registry()

    registry.add_provider(Source(at_once=True))

    assert registry.get_model_context().system == "source"
    assert registry.changes == 2


@pytest.mark.parametrize("at_once", [False, True])
def test_a_provider_that_cannot_be_subscribed_to_is_not_registered(at_once: bool) -> None:
    registry = Registry()

    with pytest.raises(LookupError, match="no subscription"):
        registry.add_provider(Source(fails=True, at_once=at_once))

    assert registry.get_model_context().system is None
    assert registry.changes == 1 + at_once


def test_the_failed_subscription_is_told_before_a_failing_listener() -> None:
    reported: list[Exception] = []

    def listener() -> None:
        raise ValueError("listener")

    registry = ModelContextRegistry(listener, on_report=reported.append)

    with pytest.raises(LookupError, match="no subscription"):
        registry.add_provider(Source(fails=True))
    assert [str(failure) for failure in reported] == ["listener"]


def test_a_failing_listener_does_not_lose_a_registration() -> None:
    def listener() -> None:
        raise ValueError("listener")

    registry = ModelContextRegistry(listener)

    for register in (
        lambda: registry.add_tool(tool()),
        lambda: registry.add_instruction("a"),
        lambda: registry.add_provider(Source("b")),
    ):
        with pytest.raises(ValueError, match="listener"):
            register()

    context = registry.get_model_context()
    assert (list(context.tools), context.system) == (["t"], "a\n\nb")


def test_a_provider_whose_subscription_cannot_be_ended_is_taken_back_all_the_same() -> None:
    registry, source = Registry(), Source()
    source.end = lambda: 1 / 0  # type: ignore[assignment]  # a plain failure
    handle = registry.add_provider(source)

    with pytest.raises(ZeroDivisionError):
        handle.remove()

    assert registry.get_model_context().system is None
    assert registry.changes == 2
