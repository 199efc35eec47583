"""Every runtime's thread can do, or refuses by name, all that a user interface may ask for."""

import pytest

from partwise import LocalRuntime, RunResult
from partwise.errors import UnsupportedError
from partwise.runtimes import CAPABILITIES, Runtime, Thread


async def answer(run: object) -> RunResult:
    del run
    return RunResult(content=["fine"])


def test_a_local_runtime_is_a_runtime_with_a_thread() -> None:
    runtime: Runtime = LocalRuntime(answer)
    thread: Thread = runtime.thread

    assert thread.capabilities <= CAPABILITIES


def test_nobody_can_be_asked_for_messages_that_are_kept_here() -> None:
    thread = LocalRuntime(answer).thread

    with pytest.raises(UnsupportedError) as caught:
        thread.refetch()

    assert caught.value.action == "refetch"
    assert "refetch" not in thread.capabilities
