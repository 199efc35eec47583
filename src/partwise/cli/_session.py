"""A runtime with its engine and its history, open for one chat."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TextIO

from partwise.errors import HistoryError, ThreadListError, ThreadNotFoundError
from partwise.persistence import MemoryThreadList, SqliteHistory, SqliteThreadList, simple_title
from partwise.runtimes import LocalRuntime, Thread, ThreadItem, ThreadListRuntime

from ._attachments import ChatAttachments
from ._engine import Answering
from ._options import DEFAULT_THREAD, ChatOptions

__all__ = ["load", "open_runtime", "open_threads"]

_ADVICE = "name another file with --db, or chat without one: --no-history"


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
            attachments=ChatAttachments(),
            max_steps=options.max_steps,
            thread_id=options.thread_id,
        )
        yield await stack.enter_async_context(runtime)


@asynccontextmanager
async def open_threads(
    options: ChatOptions, engine: Answering, errors: TextIO
) -> AsyncGenerator[ThreadListRuntime | None]:
    """Open the threads of a chat; None after a line about why they could not be.

    It begins with the thread that was asked for, or the one with the newest message, or a new one.
    Leaving it cancels answers in progress and waits until all is stored.
    """
    async with AsyncExitStack() as stack:
        stack.push_async_callback(engine.close)
        adapter: MemoryThreadList | SqliteThreadList = MemoryThreadList(title=simple_title)
        if options.database is not None:
            adapter = await stack.enter_async_context(SqliteThreadList(options.database, title=simple_title))

        def open_thread(item: ThreadItem) -> LocalRuntime:
            return LocalRuntime(
                engine.model,
                tools=engine.tools,
                instructions=engine.instructions,
                history=adapter.history(item.id),
                attachments=ChatAttachments(),
                max_steps=options.max_steps,
                initialize=item.initialize,
                thread_id=item.id,
            )

        try:
            start_id, new_id = await _first_thread(adapter, options.thread_id)
        except ThreadListError as error:
            cause = error.__cause__ or error
            print(f"partwise: error: {str(cause.__cause__ or cause).rstrip('.')}; {_ADVICE}", file=errors)
            yield None
            return
        threads = ThreadListRuntime(open_thread, adapter, start_id=start_id, new_id=new_id, keep_alive=8)
        yield await stack.enter_async_context(threads)


async def _first_thread(adapter: MemoryThreadList | SqliteThreadList, wanted: str) -> tuple[str | None, str | None]:
    """Return the stored thread to begin with, or else the id of the new one."""
    if wanted == DEFAULT_THREAD:
        page = await adapter.list()
        newest = next((thread.id for thread in page.threads if thread.status == "regular"), None)
        if newest is not None:
            return newest, None
    try:
        thread = await adapter.fetch(wanted)
    except ThreadNotFoundError:
        return None, wanted
    # A thread that was put away is taken back only when it was asked for.
    return (None, None) if wanted == DEFAULT_THREAD else (thread.id, None)


async def load(thread: Thread, errors: TextIO) -> bool:
    """Load what the history has; returns False after a line about why it could not be."""
    try:
        await thread.load()
    except HistoryError as error:
        print(f"partwise: error: {str(error.__cause__ or error).rstrip('.')}; {_ADVICE}", file=errors)
        return False
    return True
