"""Threads for headless widgets."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from partwise.adapters import RunContext
from partwise.messages import message_text
from partwise.reactive import StoreStatistics
from partwise.runtimes import LocalThread
from partwise.stream import Chunk, TextDelta


async def echo(run: RunContext) -> AsyncGenerator[Chunk, None]:
    yield TextDelta(f"heard {message_text(run.messages[-1])}")


def statistics(thread: LocalThread) -> StoreStatistics:
    return thread._host.document.store.statistics()


def long(count: int, parts: int = 1) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [
        {
            "role": roles[number % 2],
            "id": f"m{number}",
            "content": [{"type": "text", "text": f"{number}.{part}"} for part in range(parts)],
        }
        for number in range(count)
    ]
