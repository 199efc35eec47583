"""Threads that can only be looked at."""

from __future__ import annotations

import pytest

from partwise.errors import UnsupportedError
from partwise.runtimes import empty_runtime, read_only_runtime
from tests.runtimes.scenes import answer, question, shown


async def test_a_fixed_conversation_is_shown_and_nothing_can_be_done_with_it() -> None:
    async with read_only_runtime([question("u1"), answer("a1")]) as runtime:
        thread = runtime.thread
        assert shown(thread) == ["u:u1", "a:a1"]
        assert (thread.capabilities, thread.state.is_send_disabled) == (frozenset({"copy"}), True)
        for operation in (thread.append("x"), thread.start_run("u1"), thread.delete_message("a1")):
            with pytest.raises(UnsupportedError):
                await operation
        for refused in (
            thread.cancel_run,
            thread.refetch,
            thread.reset,
            lambda: thread.begin_edit("u1"),
            lambda: thread.switch_to_branch("a1"),
            lambda: thread.respond_to_approval("p", approved=True),
            lambda: thread.add_tool_result("a1", "c", 1),
        ):
            with pytest.raises(UnsupportedError):
                refused()
        assert shown(thread) == ["u:u1", "a:a1"]
        assert [entry.parent_id for entry in thread.export().entries] == [None, "u1"]


async def test_an_empty_place_is_loading_and_takes_nothing() -> None:
    async with empty_runtime() as runtime:
        assert (runtime.thread.state.is_loading, list(runtime.thread.state.messages)) == (True, [])
        assert runtime.thread.capabilities == frozenset()
        with pytest.raises(UnsupportedError):
            await runtime.thread.append("x")
