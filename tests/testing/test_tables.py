"""The tables of the page about testing name every promise and every capability."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from partwise.persistence import MemoryHistory
from partwise.providers.langgraph import LangGraphAgent
from partwise.runtimes import CAPABILITIES, AppendRequest, LocalRuntime, MessageQueue, Runtime, TextAttachments
from partwise.runtimes.external import ExternalStoreRuntime
from partwise.testing import CONTRACT, Script
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "testing.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[str]:
    """The first cells of the table under a row of headings."""
    table = PAGE[PAGE.index(heading) :].split("\n\n")[0].splitlines()[2:]
    return [line.split("|")[1].strip() for line in table]


def test_every_promise_is_in_the_table() -> None:
    assert rows("| promise |") == [str(check) for check in CONTRACT]


def test_every_capability_is_in_the_table() -> None:
    named = re.findall(r"`(\w+)`", " ".join(rows("| capability |")))

    assert sorted(named) == sorted(CAPABILITIES)


def test_a_promise_needs_what_the_table_says() -> None:
    for line, check in zip(PAGE[PAGE.index("| promise |") :].splitlines()[2:], CONTRACT, strict=False):
        cell = line.strip("|").split("|")[2]
        given = {
            name.removeprefix("on_").replace("set_messages", "switch_to_branch")
            for name in re.findall(r"`(\w+)`", cell)
        }
        assert given == set(check.needs), line


def graph_agent(**options: Any) -> LangGraphAgent:
    builder = StateGraph(MessagesState)
    builder.add_node("node", lambda state: state)
    builder.add_edge(START, "node")
    return LangGraphAgent(builder.compile(checkpointer=InMemorySaver()), **options)


RUNTIMES: dict[str, Callable[..., Runtime]] = {
    "local": lambda **options: LocalRuntime(Script("ok"), **options),
    "external store": lambda **options: ExternalStoreRuntime(**options),
    "LangGraph": graph_agent,
}


def nothing(*_args: Any) -> None:
    return None


class Driver:
    def run(self, request: AppendRequest, /, *, steer: bool) -> None:
        raise NotImplementedError


# What a runtime is given under a name, where that is no function.
GIVEN: dict[str, Any] = {
    "history": MemoryHistory(),
    "queue": MessageQueue(Driver()),
    "has_queue": True,
    "can_copy": False,
    "attachments": TextAttachments(),
}


def cells() -> list[tuple[str, str, str]]:
    table = PAGE[PAGE.index("| capability |") :].split("\n\n")[0].splitlines()
    heads = [cell.strip() for cell in table[0].strip("|").split("|")][1:]
    found = []
    for line in table[2:]:
        name, *said = [cell.strip() for cell in line.strip("|").split("|")]
        found += [(name.strip("`"), head, cell) for head, cell in zip(heads, said, strict=True)]
    return found


@pytest.mark.parametrize(("capability", "runtime", "said"), cells())
def test_what_the_table_says_is_what_a_thread_says(capability: str, runtime: str, said: str) -> None:
    def can(**options: Any) -> bool:
        return capability in RUNTIMES[runtime](**options).thread.capabilities

    names = re.findall(r"`(\w+)`", said)
    given = [{name: GIVEN.get(name, nothing)} for name in names]
    if said == "always":
        assert can()
    elif said == "never":
        assert not can()
    elif said.startswith("with "):
        assert names
        assert not can()
        assert all(can(**options) for options in given)
    else:
        assert said.startswith("unless ")
        assert can()
        assert not any(can(**options) for options in given)
