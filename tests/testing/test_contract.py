"""One suite over every runtime, on asyncio and on trio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from partwise.persistence import MemoryThreadList
from partwise.runtimes import LocalRuntime, Thread, ThreadItem, ThreadListRuntime
from partwise.testing import CONTRACT, Check, OpenSource, Script
from tests.testing.agents import Agent


@asynccontextmanager
async def local(script: Script) -> AsyncIterator[Thread]:
    async with LocalRuntime(script) as runtime:
        yield runtime.thread


@asynccontextmanager
async def external(script: Script) -> AsyncIterator[Thread]:
    async with Agent(script) as agent:
        yield agent.runtime.thread


@asynccontextmanager
async def in_a_list(script: Script) -> AsyncIterator[Thread]:
    def make(item: ThreadItem) -> LocalRuntime:
        return LocalRuntime(script, initialize=item.initialize, thread_id=item.id)

    async with ThreadListRuntime(make, MemoryThreadList()) as threads:
        yield threads.main


@asynccontextmanager
async def behind_another(script: Script) -> AsyncIterator[Thread]:
    """A thread of a list that is not in view."""

    @asynccontextmanager
    async def make(item: ThreadItem) -> AsyncIterator[LocalRuntime]:
        async with LocalRuntime(script if item.id == "a" else Script("nobody asked"), thread_id=item.id) as runtime:
            yield runtime

    async with ThreadListRuntime(make, MemoryThreadList(), new_id="a") as threads:
        thread = threads.main
        threads.initialize("a")
        await threads.switch_to_new()
        assert threads.main is not thread
        yield thread


@asynccontextmanager
async def external_in_a_list(script: Script) -> AsyncIterator[Thread]:
    def make(item: ThreadItem) -> Agent:
        return Agent(script, initialize=item.initialize)

    async with ThreadListRuntime(make, MemoryThreadList()) as threads:
        yield threads.main


SOURCES: dict[str, OpenSource] = {
    "local": local,
    "external": external,
    "in a list": in_a_list,
    "behind another": behind_another,
    "external in a list": external_in_a_list,
}
# What a source cannot be checked for, since it cannot do it.
CANNOT: dict[str, set[str]] = {}


@pytest.mark.parametrize("check", CONTRACT, ids=str)
@pytest.mark.parametrize("name", SOURCES)
async def test_every_runtime_keeps_every_promise(name: str, check: Check) -> None:
    was_checked = await check(SOURCES[name])

    assert was_checked == (str(check) not in CANNOT.get(name, set()))
