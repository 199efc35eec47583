"""Running a script of family ``resumable``: producers, readers and a clock, step by step."""

import logging
from collections.abc import AsyncIterator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.lowlevel

from partwise.errors import (
    CursorError,
    StreamError,
    StreamFailedError,
    StreamIdError,
    StreamLostError,
    StreamNotFoundError,
)
from partwise.stream.resumable import (
    Edition,
    Entry,
    MemoryStreamStore,
    ResumableStreams,
    StreamAcquired,
    StreamAppended,
    StreamEvent,
    StreamFailure,
    StreamFinalized,
    StreamLimits,
    StreamTrouble,
)
from tests.clocks import ManualClock

from . import _resumable_responses as responses

Json = Any

LIMITS = ("chunk-too-large", "too-many-entries")


class ScriptError(Exception):
    """What a script raises in its producer."""


class Source:
    """A producer's source, fed by the script."""

    def __init__(self, name: str, events: list[Json]) -> None:
        self._name = name
        self._events = events
        self._send, self._receive = anyio.create_memory_object_stream[Any](100)
        self.has_ended = False

    def feed(self, item: Any) -> None:
        if self.has_ended:
            raise _Malformed
        self._send.send_nowait(item)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        item = await self._receive.receive()
        if isinstance(item, (bytes, bytearray)):
            return item
        self.has_ended = True
        raise item or StopAsyncIteration

    async def aclose(self) -> None:
        if not self.has_ended:
            self.has_ended = True
            self._events.append({"producerCancelled": self._name})
        self._send.close()
        self._receive.close()


class _Malformed(Exception):
    """Feeding a source that nobody reads any more."""


class Reading:
    """A reader in a task of its own, which reads on its own or one chunk at a time."""

    def __init__(self, chunks: AsyncIterator[Any], *, is_manual: bool) -> None:
        self._chunks = chunks
        self._turns = 0 if is_manual else 10**9
        self._turn = anyio.Event()
        self._scope = anyio.CancelScope()
        self.error: Json = None
        self.is_over = False
        self.news: Json = {}

    async def run(self) -> None:
        with self._scope:
            try:
                while True:
                    while self._turns == 0:
                        self._turn = anyio.Event()
                        await self._turn.wait()
                    self._turns -= 1
                    item = await anext(self._chunks)
                    self.news.setdefault("got", []).append(_shown(item))
            except StopAsyncIteration:
                self._end(closed=True)
            except Exception as error:
                self.error = kind_of(error)
                self._end(error=self.error)

    def read_one(self) -> None:
        self._turns += 1
        self._turn.set()

    def cancel(self) -> Json:
        if self.error is not None:
            return {"error": self.error}
        if not self.is_over:
            self._scope.cancel()
            self._end(closed=True)
        return {}

    def _end(self, **news: Json) -> None:
        self.is_over = True
        self.news.update(news)


def _shown(item: Any) -> Json:
    return [item.cursor, item.data.decode()] if isinstance(item, Entry) else item.decode()


def kind_of(error: Exception) -> Json:
    """The kind of an error, in the words of the vectors."""
    match error:
        case ScriptError():
            return {"kind": "user", "message": str(error)}
        case StreamFailedError(code="failed"):
            return {"kind": "user", "message": str(error)}
        case StreamNotFoundError():
            return {"kind": "not-found"}
        case StreamIdError() | CursorError() | StreamError():
            return {"kind": error.code}
        case _Malformed():
            return {"kind": "malformed"}
        case _:
            raise error


class Script:
    """One script on one context over a store in memory."""

    def __init__(self, given: Json) -> None:
        options = given.get("store", {})
        self.clock = ManualClock()
        limits = StreamLimits(
            chunk_bytes=options.get("maxChunkBytes"),
            entries=options.get("maxEntriesPerStream"),
            streams=options.get("maxStreams"),
        )
        ttl = {"default_ttl": options["defaultTtlMs"] / 1000} if "defaultTtlMs" in options else {}
        self.store = MemoryStreamStore(limits=limits, clock=self.clock, **ttl)
        self.ttl = given["ttlMs"] / 1000 if "ttlMs" in given else None
        self.is_broken = given.get("brokenHooks", False)
        self.events: list[Json] = []
        self.sources: dict[str, Source] = {}
        self.readers: dict[str, Reading] = {}
        self.editions: dict[str, Edition] = {}
        self.counts: dict[Edition, int] = {}

    async def run(self, steps: list[Json]) -> list[Json]:
        """Run the steps; everything comes to rest after each."""
        done: list[Json] = []
        streams = ResumableStreams(self.store, ttl=self.ttl, listener=self._listen, clock=self.clock)
        async with anyio.create_task_group() as group, streams:
            self.group, self.streams = group, streams
            for step in steps:
                outcome = await self._step(step)
                done.append(outcome)
            group.cancel_scope.cancel()
        return done

    def _listen(self, event: StreamEvent) -> None:
        match event:
            case StreamAcquired(stream_id, is_producer):
                self.events.append({"acquire": [stream_id, "producer" if is_producer else "consumer"]})
            case StreamAppended(stream_id, size):
                self.events.append({"append": [stream_id, size]})
            case StreamFinalized(stream_id, failure):
                self.events.append({"finalize": [stream_id, *_ending(failure)]})
            case StreamTrouble(stream_id, error):
                self.events.append({"error": [stream_id, kind_of(error)["kind"]]})
        if self.is_broken:
            raise RuntimeError("a broken hook")

    async def _step(self, step: Json) -> Json:
        try:
            outcome = await self._act(step)
        except Exception as error:
            outcome = {"error": kind_of(error)}
        await _rest()
        if "produceThenScribble" in step:
            self.scribbled[:] = b"?" * len(self.scribbled)
        if self.events:
            outcome["events"] = list(self.events)
            self.events.clear()
        for name, reader in self.readers.items():
            if reader.news:
                outcome.setdefault("readers", {})[name], reader.news = reader.news, {}
        return outcome

    async def _act(self, step: Json) -> Json:
        match step:
            case {"run": stream_id}:
                self._read(step, await self.streams.produce(stream_id, lambda: self._make(step)))
            case {"resume": stream_id}:
                try:
                    self._read(step, await self.streams.resume(stream_id))
                except StreamNotFoundError:
                    return {"result": None}
            case {"requireResume": stream_id}:
                self._read(step, await self.streams.resume(stream_id))
            case {"store": operation}:
                return await self._act_on_store(operation, step)
            case {"status": stream_id}:
                return {"result": await self.streams.status(stream_id)}
            case {"delete": stream_id}:
                await self.streams.delete(stream_id)
            case {"createResponse": _} | {"resumeResponse": _}:
                return {"result": await responses.answer(self.streams, step)}
            case {"cancel": name}:
                return self.readers[name].cancel() if name in self.readers else {}
            case _:
                self._move(step)
        return {}

    def _move(self, step: Json) -> None:
        match step:
            case {"advance": milliseconds}:
                self.clock.advance(milliseconds)
            case {"readOne": name}:
                self.readers[name].read_one()
            case {"produce": name}:
                self.sources[name].feed(step["text"].encode())
            case {"produceThenScribble": name}:
                self.scribbled = bytearray(step["text"].encode())
                self.sources[name].feed(self.scribbled)
            case {"finish": name}:
                self.sources[name].feed(None)
            case {"fail": name}:
                if not self.sources[name].has_ended:
                    self.sources[name].feed(ScriptError(step["message"]))
            case _:
                raise ValueError(f"unknown step {step!r}")

    def _make(self, step: Json) -> Source:
        self.events.append({"makeStream": step["producer"]})
        if "makeThrows" in step:
            raise ScriptError(step["makeThrows"])
        self.sources[step["producer"]] = Source(step["producer"], self.events)
        return self.sources[step["producer"]]

    def _read(self, step: Json, chunks: AsyncIterator[Any]) -> None:
        reading = Reading(chunks, is_manual=step.get("manual", False))
        self.readers[step["as"]] = reading
        self.group.start_soon(reading.run)

    async def _act_on_store(self, operation: str, step: Json) -> Json:
        stream_id = step["id"]
        edition = self.editions.get(step.get("lease", f"last of {stream_id}"), Edition(stream_id, "nobody's"))
        match operation:
            case "acquire" | "acquireLease":
                ttl = step["ttlMs"] / 1000 if "ttlMs" in step else None
                acquired = await self.store.acquire(stream_id, ttl=ttl, lease=10**9)
                if acquired.is_producer:
                    self.editions[f"last of {stream_id}"] = self.editions[step.get("as", "")] = acquired.edition
                role = "producer" if acquired.is_producer else "consumer"
                return {"result": role if operation == "acquire" else {"role": role, "lease": acquired.is_producer}}
            case "append":
                index = self.counts.get(edition, 0) + 1
                await self.store.append(edition, index, step["text"].encode())
                self.counts[edition] = index
            case "finalize":
                failure = StreamFailure("failed", step.get("error", "")) if step["status"] == "error" else None
                try:
                    await self.store.finalize(edition, failure)
                except StreamLostError:
                    return {"result": False}
                return {"result": True}
            case "read":
                found = await self.store.find(stream_id)
                self._read(step, self.store.read(found.edition if found else edition, step.get("cursor")))
            case "abortRead":
                return self.readers[step["as"]].cancel()
            case "status":
                found = await self.store.find(stream_id)
                return {"result": found.status if found else "missing"}
            case "delete":
                await self.store.delete(stream_id)
            case _:
                raise ValueError(f"unknown operation {operation!r}")
        return {}


def _ending(failure: StreamFailure | None) -> list[str]:
    if failure is None:
        return ["done"]
    return ["error", f"@{failure.code}" if failure.code in LIMITS else failure.text]


async def _rest() -> None:
    """Give every task more turns than it needs to come to rest."""
    for _ in range(60):
        await anyio.lowlevel.checkpoint()


@contextmanager
def _silence() -> Any:
    log = logging.getLogger("partwise.stream.resumable")
    log.disabled = True
    try:
        yield
    finally:
        log.disabled = False


def play(given: Json, backend: str) -> list[Json]:
    """Run a script on one kind of event loop."""
    with _silence():
        return anyio.run(Script(given).run, given["steps"], backend=backend)
