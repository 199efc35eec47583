"""Somebody outside holds the selection: told of what it does not know, never of its own, never twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from partwise.errors import ThreadNotFoundError
from partwise.runtimes import ThreadListRuntime
from tests.runtimes.thread_list.scenes import Server, heard, listed, local, raised, settled, stored, threads_of


@asynccontextmanager
async def controlled(server: Server, **options: Any) -> AsyncIterator[tuple[ThreadListRuntime, list[str | None]]]:
    told: list[str | None] = []
    async with threads_of(server, on_selected=told.append, **options) as threads:
        yield threads, told


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, ["+n1*", "A", "B"]),
        ({"start_id": "a"}, ["A*", "B"]),
        ({"controlled_id": "a"}, ["A*", "B"]),
        ({"controlled_id": "b", "start_id": "a"}, ["A", "B*"]),
        ({"controlled_id": None, "start_id": "a"}, ["+n1*", "A", "B"]),
    ],
)
async def test_the_first_thread_is_the_one_that_was_asked_for_and_is_told_to_nobody(
    options: dict[str, Any], shown: list[str]
) -> None:
    async with controlled(Server(stored("a"), stored("b"), is_quick=True), **options) as (threads, told):
        assert sorted(listed(threads)) == sorted(shown)
        assert told == []


async def test_the_owner_is_told_of_switches_of_others_and_not_of_its_own() -> None:
    async with controlled(Server(stored("a"), stored("b"), is_quick=True), controlled_id="a") as (threads, told):
        await threads.control("b")
        assert (listed(threads)[1], told) == ("B*", [])

        await threads.switch_to("a")
        await threads.switch_to("a")
        assert told == ["a"]
        await threads.control("a")  # as an owner does that was told
        await threads.switch_to_new()
        await threads.control(None)

        assert told == ["a", None]
        assert len(threads.state.new_ids) == 1


async def test_a_new_thread_is_told_by_none_and_by_its_remote_id_once_it_has_one() -> None:
    server = Server(stored("a"), is_quick=True)
    async with controlled(server) as (threads, told):
        await threads.main.append("hello")
        await threads.rename("n1", "x")
        await threads.switch_to("a")
        await threads.switch_to("n1")
        await threads.switch_to_new()

        assert told == ["r1", "a", "r1", None]
        await threads.main.append("another")
        assert told == ["r1", "a", "r1", None, "r2"]


async def test_a_background_thread_that_gets_its_id_is_told_to_nobody() -> None:
    server = Server(stored("a"))
    async with controlled(server) as (threads, told):
        sent = threads.main.append("hello")
        await settled()
        await threads.switch_to("a")
        server.call("initialize n1").succeed()
        await sent

        assert told == ["a"]


async def test_an_owner_whose_switch_was_overtaken_hears_where_the_view_is() -> None:
    server = Server(stored("a"))
    async with controlled(server, controlled_id=None) as (threads, told):
        await threads.switch_to("a")
        server.threads["late"] = stored("late")
        asked = threads.control("late")
        await settled()
        await threads.switch_to("a")
        server.call("fetch late").succeed()
        await asked

        assert listed(threads)[1] == "A*"
        assert told == ["a", "a"]  # between the two, the owner took "late" to be in view


async def test_a_thread_that_the_owner_asks_for_and_is_not_there_leaves_the_view_and_is_an_error() -> None:
    async with controlled(Server(stored("a"), is_quick=True), controlled_id="a") as (threads, told):
        events = heard(threads)
        assert isinstance(await raised(threads.control("nowhere")), ThreadNotFoundError)

        assert (listed(threads), told) == (["A*"], [])
        assert len(events) == 1
        await threads.switch_to("a")
        assert told == ["a"]
        await threads.control("a")
        assert isinstance(await raised(threads.control("nowhere")), ThreadNotFoundError)  # asked again, tried again


async def test_a_thread_that_goes_while_it_is_in_view_is_told() -> None:
    async with controlled(Server(stored("a"), is_quick=True), controlled_id="a") as (threads, told):
        await threads.delete("a")

        assert told == [None]


async def test_an_owner_that_raises_is_reported_and_the_switch_is_made() -> None:
    errors: list[str] = []

    def refuse(id: str | None) -> None:
        raise ValueError(f"told {id}")

    server = Server(stored("a"), is_quick=True)
    options: dict[str, Any] = {"on_error": lambda error, context: errors.append(str(error))}
    async with threads_of(server, on_selected=refuse, **options) as threads:
        await threads.switch_to("a")

        assert listed(threads)[1] == "A*"
    assert errors == ["told a"]


async def test_an_owner_may_answer_at_once_with_a_switch() -> None:
    made = local()
    told: list[str | None] = []

    def on_selected(id: str | None) -> None:
        told.append(id)
        threads.control("b" if id == "a" else id)

    server = Server(stored("a"), stored("b"), is_quick=True)
    async with threads_of(server, made, on_selected=on_selected) as threads:
        await threads.switch_to("a")
        await settled()

        assert listed(threads) == ["+n1", "A", "B*"]
        assert told == ["a"]
