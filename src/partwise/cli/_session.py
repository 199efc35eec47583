"""A runtime with its engine and its history, open for one chat."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TextIO

from partwise.errors import HistoryError
from partwise.persistence import SqliteHistory
from partwise.runtimes import LocalRuntime, LocalThread

from ._engine import Answering
from ._options import ChatOptions

__all__ = ["load", "open_runtime"]


@asynccontextmanager
async def open_runtime(options: ChatOptions, engine: Answering) -> AsyncGenerator[LocalRuntime]:
    """Open the runtime of a chat; its history is not loaded yet.

    Leaving it cancels an answer in progress and waits until all is stored.
    """
    async with AsyncExitStack() as stack:
        stack.push_async_callback(engine.close)
        history = None
        if options.database is not None:
            history = await stack.enter_async_context(SqliteHistory(options.database, options.thread_id))
        runtime = LocalRuntime(
            engine.model,
            tools=engine.tools,
            instructions=engine.instructions,
            history=history,
            max_steps=options.max_steps,
            thread_id=options.thread_id,
        )
        yield await stack.enter_async_context(runtime)


async def load(thread: LocalThread, errors: TextIO) -> bool:
    """Load what the history has; returns False after a line about why it could not be."""
    try:
        await thread.load()
    except HistoryError as error:
        advice = "name another file with --db, or chat without one: --no-history"
        print(f"partwise: error: {str(error.__cause__ or error).rstrip('.')}; {advice}", file=errors)
        return False
    return True
