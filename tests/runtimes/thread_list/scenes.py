"""What the tests of thread lists share: an adapter that answers when it is told to, open lists, rows as text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import attrs

from partwise.adapters import StoredThread, ThreadIds, ThreadPage
from partwise.errors import ThreadNotFoundError
from partwise.messages import Message
from partwise.runtimes import LocalRuntime, ThreadItem, ThreadListRuntime
from partwise.store import ThreadListEvent
from partwise.stream import TextDelta
from partwise.testing import settled as settled
from tests.runtimes.scenes import Script


@attrs.define(eq=False)
class Call:
    """One call of the adapter, until it is answered."""

    name: str
    args: tuple[Any, ...]
    do: Callable[[], Any]
    error: Exception | None = None
    answer: Any = None
    is_answered: bool = False
    event: anyio.Event = attrs.field(factory=anyio.Event)

    def succeed(self, answer: Any = None) -> None:
        """Let the server do it now, and answer; what it cannot do, it says."""
        self.act(answer)
        self._settle()

    def act(self, answer: Any = None) -> None:
        """Let the server do it now; its answer is still on the way."""
        try:
            self.answer = self.do() if answer is None else answer
        except ThreadNotFoundError as error:
            self.error = error

    def fail(self, error: Exception | None = None) -> None:
        self.error = error or OSError("offline")
        self._settle()

    def _settle(self) -> None:
        self.is_answered = True
        self.event.set()

    @property
    def text(self) -> str:
        return " ".join((self.name, *(str(arg) for arg in self.args)))


class Server:
    """A thread list whose calls wait for the test, unless ``is_quick``; what it holds changes when it answers.

    A list or fetch says what was there when it was called, as slow networks do.
    """

    def __init__(self, *threads: StoredThread, page_size: int = 50, is_quick: bool = False, prefix: str = "r") -> None:
        self.threads = {thread.id: thread for thread in threads}
        self.page_size = page_size
        self.is_quick = is_quick
        self.calls: list[Call] = []
        self.titles: dict[str, list[str | anyio.Event | Exception]] = {}
        self.asked_titles: list[tuple[str, tuple[Message, ...]]] = []
        self.remote_ids = iter(f"{prefix}{number}" for number in range(1, 10_000))
        self.made: dict[str, str] = {}

    @property
    def open_calls(self) -> list[Call]:
        return [call for call in self.calls if not call.is_answered]

    @property
    def texts(self) -> list[str]:
        """Every call so far."""
        return [call.text for call in self.calls]

    def call(self, text: str) -> Call:
        """The open call with this text."""
        return next(call for call in self.open_calls if call.text == text)

    async def list(self, cursor: str | None = None) -> ThreadPage:
        page = self._page(cursor)
        return await self._ask("list", *([] if cursor is None else [cursor]), do=lambda: page)

    async def fetch(self, thread_id: str) -> StoredThread:
        thread = self.threads.get(thread_id)
        return await self._ask("fetch", thread_id, do=lambda: thread)

    async def initialize(self, local_id: str) -> ThreadIds:
        return await self._ask("initialize", local_id, do=lambda: self._make(local_id))

    async def rename(self, thread_id: str, title: str) -> None:
        await self._ask("rename", thread_id, title, do=lambda: self._change(thread_id, title=title))

    async def archive(self, thread_id: str) -> None:
        await self._ask("archive", thread_id, do=lambda: self._change(thread_id, status="archived"))

    async def unarchive(self, thread_id: str) -> None:
        await self._ask("unarchive", thread_id, do=lambda: self._change(thread_id, status="regular"))

    async def delete(self, thread_id: str) -> None:
        await self._ask("delete", thread_id, do=lambda: self.threads.pop(thread_id, None) and None)

    async def update_custom(self, thread_id: str, custom: Mapping[str, Any]) -> None:
        await self._ask("update_custom", thread_id, custom, do=lambda: self._change(thread_id, custom=custom))

    async def generate_title(self, thread_id: str, messages: tuple[Message, ...]) -> AsyncIterator[str]:
        self.asked_titles.append((thread_id, messages))
        whole = ""
        for step in self.titles.get(thread_id, []):
            if isinstance(step, anyio.Event):
                await step.wait()
            elif isinstance(step, Exception):
                raise step
            else:
                whole += step
                yield step
        if whole:
            self._change(thread_id, title=whole)

    async def _ask(self, name: str, *args: Any, do: Callable[[], Any]) -> Any:
        call = Call(name, args, do)
        self.calls.append(call)
        if self.is_quick:
            call.succeed()
        await call.event.wait()
        if call.error is not None:
            raise call.error
        if name == "fetch" and call.answer is None:
            raise ThreadNotFoundError(str(args[0]))
        return call.answer

    def _page(self, cursor: str | None) -> ThreadPage:
        ids = list(self.threads)
        start = 0 if cursor is None else int(cursor)
        end = start + self.page_size
        threads = tuple(self.threads[id] for id in ids[start:end])
        return ThreadPage(threads=threads, cursor=str(end) if end < len(ids) else None)

    def _make(self, local_id: str) -> ThreadIds:
        remote_id = self.made.get(local_id) or next(self.remote_ids)
        self.made[local_id] = remote_id
        if remote_id not in self.threads:
            self.threads = {remote_id: StoredThread(id=remote_id), **self.threads}
        return ThreadIds(id=remote_id)

    def _change(self, thread_id: str, **fields: Any) -> None:
        if thread_id not in self.threads:
            raise ThreadNotFoundError(thread_id)
        self.threads[thread_id] = attrs.evolve(self.threads[thread_id], **fields)


def stored(id: str, title: str | None = None, **fields: Any) -> StoredThread:
    return StoredThread(id=id, title=title or id.upper(), **fields)


def listed(threads: ThreadListRuntime) -> list[str]:
    """Each row: its title or id, with marks for its status and whether it is in view."""
    state = threads.state
    marks = {"new": "+", "regular": "", "archived": "-"}
    return [f"{marks[row.status]}{row.title or row.id}{'*' if row.id == state.main_id else ''}" for row in state.rows]


def heard(threads: ThreadListRuntime) -> list[str]:
    """What happens beside the snapshot from now on."""
    found: list[str] = []

    def on_event(event: ThreadListEvent) -> None:
        found.append(event.text if event.type == "report" else f"{event.operation} {event.thread_id}: {event.error}")

    threads.events.subscribe(on_event)
    return found


async def quick_model(run: Any) -> AsyncIterator[TextDelta]:
    yield TextDelta("ok")


def local(model: Any = None, **options: Any) -> Callable[[ThreadItem], LocalRuntime]:
    """Make local runtimes; ``made`` of the function counts them."""
    made: list[str] = []

    def make(item: ThreadItem) -> LocalRuntime:
        made.append(item.id)
        return LocalRuntime(model or quick_model, initialize=item.initialize, thread_id=item.id, **options)

    make.made = made
    return make


@asynccontextmanager
async def threads_of(
    server: Any, make: Any = None, *, loads: bool = True, **options: Any
) -> AsyncIterator[ThreadListRuntime]:
    """An open list, loaded; whatever a listener raises fails the test."""
    errors: list[Exception] = []
    options.setdefault("new_id", "n1")
    options.setdefault("on_error", lambda error, context: errors.append(error))
    async with ThreadListRuntime(make or local(), server, **options) as threads:
        if loads:
            loading = threads.load()
            await settled()
            if isinstance(server, Server) and not server.is_quick:
                server.call("list").succeed()
            await loading
        yield threads
        for call in getattr(server, "open_calls", []):
            call.fail()
    assert not errors


async def raised(operation: Awaitable[Any]) -> Exception | None:
    """What an operation raises."""
    try:
        await operation
    except Exception as error:
        return error
    return None


__all__ = [
    "Call",
    "Script",
    "Server",
    "heard",
    "listed",
    "local",
    "quick_model",
    "raised",
    "settled",
    "stored",
    "threads_of",
]
