"""An answer that was stopped stays stopped, also where its owner tells no status."""

from __future__ import annotations

from typing import Any

import pytest

from partwise.repository import Entry, Export
from partwise.runtimes import ExternalStoreRuntime
from partwise.testing import status_of

U1 = {"id": "u1", "role": "user", "content": "go"}
U2 = {"id": "u2", "role": "user", "content": "and on"}


def answer(id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "role": "assistant", "content": text, **more}


def tell(runtime: ExternalStoreRuntime, way: str, items: list[dict[str, Any]], *, is_running: bool) -> None:
    if way == "tree":
        parents = [None, *(item["id"] for item in items)]
        entries = tuple(Entry(parent, item) for parent, item in zip(parents, items, strict=False))
        runtime.update(Export(items[-1]["id"], entries), is_running=is_running)
    elif way == "list":
        runtime.update(items, is_running=is_running)
    else:
        for item in items:
            runtime.put({**item})
        runtime.update(is_running=is_running)


def statuses(runtime: ExternalStoreRuntime) -> list[str]:
    return [status_of(message) for message in runtime.thread.state.messages if message.role == "assistant"]


@pytest.mark.parametrize("way", ["list", "tree", "put"])
@pytest.mark.parametrize("at_once", [False, True])
async def test_a_stopped_answer_stays_stopped_when_the_conversation_goes_on(way: str, at_once: bool) -> None:  # B13
    def stop() -> None:
        if at_once:
            tell(runtime, way, [U1, answer("a1", "ha")], is_running=False)

    async with ExternalStoreRuntime(on_cancel=stop, is_running=False) as runtime:
        tell(runtime, way, [U1, answer("a1", "ha")], is_running=True)
        assert statuses(runtime) == ["running"]
        runtime.thread.cancel_run()
        if not at_once:
            tell(runtime, way, [U1, answer("a1", "half")], is_running=True)
            assert statuses(runtime) == ["running"]
            tell(runtime, way, [U1, answer("a1", "half")], is_running=False)
        assert statuses(runtime) == ["incomplete/cancelled"]
        stopped = runtime.thread.state.messages[1]
        tell(runtime, way, [U1, answer("a1", "ha" if at_once else "half"), U2], is_running=True)
        tell(runtime, way, [U1, answer("a1", "ha" if at_once else "half"), U2, answer("a2", "x")], is_running=True)
        assert statuses(runtime) == ["incomplete/cancelled", "running"]
        assert runtime.thread.state.messages[1] == stopped
        tell(runtime, way, [U1, answer("a1", "ha" if at_once else "half"), U2, answer("a2", "xy")], is_running=False)
        assert statuses(runtime) == ["incomplete/cancelled", "complete/unknown"]


@pytest.mark.parametrize("way", ["list", "tree", "put"])
async def test_the_owner_goes_on_with_it_or_says_what_it_is(way: str) -> None:
    async with ExternalStoreRuntime(on_cancel=lambda: None, is_running=False) as runtime:
        for text in ("ha", "half and more"):
            tell(runtime, way, [U1, answer("a1", text)], is_running=True)
            assert statuses(runtime) == ["running"]
            runtime.thread.cancel_run()
            tell(runtime, way, [U1, answer("a1", text)], is_running=False)
            assert statuses(runtime) == ["incomplete/cancelled"]
        tell(runtime, way, [U1, answer("a1", "whole", status={"type": "complete", "reason": "stop"})], is_running=False)
        assert statuses(runtime) == ["complete/stop"]


async def test_what_could_not_be_stopped_is_not_marked() -> None:
    def refuse() -> None:
        message = "no"
        raise OSError(message)

    async with ExternalStoreRuntime([U1, answer("a1", "x")], on_cancel=refuse, is_running=True) as runtime:
        with pytest.raises(OSError, match="no"):
            runtime.thread.cancel_run()
        runtime.update(is_running=False)
        assert statuses(runtime) == ["complete/unknown"]
