"""A run as a chat model sees it, and the answer that comes of it."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import pytest

from partwise.adapters import CancelSignal, RunContext
from partwise.messages import RUNNING, AssistantMessage, AssistantPart, Message
from partwise.stream import Chunk, Fold
from partwise.tools import ModelContext

CREATED = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def make_run() -> Callable[..., Any]:
    """Make what a chat model is told: messages, the parts of the answer so far, the model context."""

    def make(
        *messages: Message, answer: tuple[AssistantPart, ...] = (), context: ModelContext | None = None
    ) -> RunContext:
        message = AssistantMessage(id="a1", created_at=CREATED, content=answer, status=RUNNING)
        return RunContext(
            messages=messages,
            assistant_message_id=message.id,
            parent_id=messages[-1].id if messages else None,
            thread_id=None,
            run_id="r1",
            roundtrip=0,
            context=context or ModelContext(),
            run_config={},
            signal=CancelSignal(),
            current_message=lambda: message,
        )

    return make


@pytest.fixture
def answer(make_run: Callable[..., Any]) -> Callable[..., Awaitable[AssistantMessage]]:
    """Run a chat model once and fold what it gives."""

    async def ask(model: Any, run: Any = None) -> AssistantMessage:
        run = run or make_run()
        message = run.message
        fold = Fold(len(message.content), report=_raise)
        chunks: AsyncIterable[Chunk] = model.run(run)
        async with aclosing(chunks):  # type: ignore[type-var]  # an async generator, in these tests
            async for chunk in chunks:
                message = fold.apply(message, chunk)
        return fold.finish(message)

    return ask


def _raise(error: Exception) -> None:
    raise error
