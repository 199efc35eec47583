"""Resumable streams in Redis: written by one process, read by any."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Final

import anyio.lowlevel

from partwise.errors import (
    AdapterError,
    CursorError,
    InvalidInputError,
    StreamNotFoundError,
    WrongEventLoopError,
)
from partwise.stream.resumable import (
    ABANDONED,
    DAY,
    Acquired,
    Edition,
    Entry,
    Found,
    StreamFailure,
    StreamLimits,
    check_seconds,
    check_size,
    expired,
    failure_raised,
    index_of,
    lost,
    trimmed,
)

from ._scripts import ACQUIRE, APPEND, DELETE, FINALIZE, RENEW, STATE, TRIM
from ._state import State, Stored, milliseconds, next_count, state_from, stored_in, to_bytes

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ["RedisStreamStore"]

# How long a reader that is busy elsewhere can still see that its stream was deleted, and did not expire.
_GRAVESTONE_SECONDS: Final = 60.0
_FIRST_COUNT: Final = 16


class RedisStreamStore:
    """Keeps resumable streams in Redis Streams, for servers of several processes; needs the extra ``redis``.

    It works on asyncio, as the client of redis-py does. Each reader that waits holds a connection of the
    client's pool, and no more than a few chunks.

    Args:
        client: A ``redis.asyncio.Redis`` that does not decode responses. It stays yours to close.
        prefix: What the keys begin with.
        default_ttl: How long a stream lives after its last chunk, in seconds, unless it is told.
        limits: How much one stream may hold; the number of streams is up to Redis.
        max_wait: How long one command waits for chunks, in seconds; has to be less than the client's
            timeout.

    Raises:
        InvalidInputError: The client decodes responses, or a time is no number of seconds.
    """

    def __init__(
        self,
        client: Redis,
        *,
        prefix: str = "partwise:stream:",
        default_ttl: float = DAY,
        limits: StreamLimits | None = None,
        max_wait: float = 2.0,
    ) -> None:
        check_seconds("lifetime", default_ttl, may_be_zero=True)
        check_seconds("waiting", max_wait)
        if client.connection_pool.connection_kwargs.get("decode_responses"):
            text = "Chunks are bytes, so the client must not decode responses: make it without decode_responses=True."
            raise InvalidInputError(text)
        self._client = client
        self._prefix = prefix
        self._default_ttl = default_ttl
        self._limits = limits or StreamLimits()
        self._max_wait = max_wait
        names = {"acquire": ACQUIRE, "append": APPEND, "renew": RENEW, "finalize": FINALIZE}
        names |= {"look at": STATE, "delete": DELETE, "trim": TRIM}
        self._scripts: dict[str, Any] = {name: client.register_script(text) for name, text in names.items()}

    async def acquire(self, stream_id: str, *, ttl: float | None, lease: float) -> Acquired:
        """Make the stream if nobody has; see `ResumableStore`."""
        # The token is made here, so that an attempt whose answer was lost finds itself when it is repeated.
        token = secrets.token_hex(8)
        ttl = self._default_ttl if ttl is None else ttl
        await self._run("look at", stream_id, "", ABANDONED.text)
        known = await self._run("acquire", stream_id, token, milliseconds(ttl), milliseconds(lease))
        return Acquired(Edition(stream_id, known.decode()), is_producer=known.decode() == token)

    async def append(self, edition: Edition, index: int, data: bytes) -> None:
        """Store a chunk; see `ResumableStore`."""
        check_size(edition.stream_id, self._limits, entries=0, size=0, data=data)
        most = [-1 if limit is None else limit for limit in (self._limits.entries, self._limits.total_bytes)]
        answer, entries, size = await self._run(
            "append", edition.stream_id, edition.token, ABANDONED.text, index, bytes(data), *most
        )
        match answer:
            case b"limit":
                check_size(edition.stream_id, self._limits, entries=entries, size=size, data=data)
            case b"gap":
                text = f"Chunk {index} of stream {edition.stream_id!r} cannot be stored: it has {entries} chunks."
                raise InvalidInputError(text)
            case _:
                _check(edition, answer)

    async def renew(self, edition: Edition) -> None:
        """Begin the lease anew; see `ResumableStore`."""
        _check(edition, await self._run("renew", edition.stream_id, edition.token, ABANDONED.text))

    async def finalize(self, edition: Edition, failure: StreamFailure | None) -> None:
        """End the stream; see `ResumableStore`."""
        ending = ("done", "", b"") if failure is None else ("error", failure.code, to_bytes(failure.text))
        _check(edition, await self._run("finalize", edition.stream_id, edition.token, ABANDONED.text, *ending))

    async def read(self, edition: Edition, after: str | None = None) -> AsyncGenerator[Entry, None]:
        """Read the stream, and wait for more of it; see `ResumableStore`."""
        index, count = index_of(edition.stream_id, after), _FIRST_COUNT
        state = await self._state(edition)
        if state is None:
            raise StreamNotFoundError(edition.stream_id)
        if index > state.chunks:
            raise CursorError(edition.stream_id, after or "")
        while True:
            wait = 0.0 if state is None else min(state.seconds_left, self._max_wait)
            entries = await self._fetch(edition, index, count, wait)
            for found in entries:
                data = _chunk(edition.stream_id, index, found)
                if data is None:
                    return
                index += 1
                yield Entry(index, data)
            if entries:
                count = next_count(entries)
            elif state is None:
                raise expired(edition.stream_id)
            else:
                # Nothing came: look why, and once more for the mark of a delete that came in between.
                state = await self._state(edition)

    async def find(self, stream_id: str) -> Found | None:
        """Return the stream of an id; see `ResumableStore`."""
        state = state_from(await self._run("look at", stream_id, "", ABANDONED.text))
        return None if state is None else Found(Edition(stream_id, state.token), state.status)

    async def trim(self, stream_id: str, keep: int) -> None:
        """Forget the oldest chunks; see `ResumableStore`."""
        await self._run("trim", stream_id, max(keep, 0))

    async def delete(self, stream_id: str) -> None:
        """Forget a stream; see `ResumableStore`."""
        await self._run("delete", stream_id, milliseconds(_GRAVESTONE_SECONDS))

    async def _state(self, edition: Edition) -> State | None:
        state = state_from(await self._run("look at", edition.stream_id, "", ABANDONED.text))
        return None if state is None or state.token != edition.token else state

    async def _fetch(self, edition: Edition, index: int, count: int, wait: float) -> list[Stored]:
        """Return entries after a place; waits for the first one."""
        _check_loop()
        key = f"{self._key(edition.stream_id)}:{edition.token}"
        block = milliseconds(wait) if wait > 0 else None
        try:
            answer: Any = await self._client.xread({key: f"{index}-0"}, count=count, block=block)
        except _redis_errors() as cause:
            raise _failed(edition.stream_id, "read", cause) from cause
        return stored_in(answer)

    async def _run(self, name: str, stream_id: str, *given: str | int | bytes) -> Any:
        _check_loop()
        key = self._key(stream_id)
        try:
            return await self._scripts[name](keys=[key, f"{key}:lease"], args=given)
        except _redis_errors() as cause:
            raise _failed(stream_id, name, cause) from cause

    def _key(self, stream_id: str) -> str:
        return f"{self._prefix}{{{stream_id}}}"


def _chunk(stream_id: str, index: int, found: Stored) -> bytes | None:
    """Return the next chunk for a reader at a place; None at the end.

    Raises:
        StreamFailedError: The stream failed, or chunks in between are gone.
    """
    if found.is_deletion:
        return None
    if found.before != index:
        raise trimmed(stream_id, index + 1, found.before)
    if found.failure is not None:
        raise failure_raised(stream_id, found.failure)
    return found.data


def _check(edition: Edition, answer: bytes) -> None:
    match answer:
        case b"ok":
            return
        case b"missing":
            raise StreamNotFoundError(edition.stream_id)
        case b"superseded":
            raise lost(edition.stream_id, "superseded")
        case b"abandoned":
            raise lost(edition.stream_id, "abandoned")
        case _:
            raise lost(edition.stream_id, "finalized")


def _check_loop() -> None:
    if type(anyio.lowlevel.current_token().native_token).__module__.startswith("trio"):
        text = (
            "RedisStreamStore works on asyncio only, since the client of redis-py does; this is trio. "
            "Run the server on asyncio, or keep its streams in a MemoryStreamStore."
        )
        raise WrongEventLoopError(text)


def _redis_errors() -> type[Exception]:
    from redis.exceptions import RedisError

    return RedisError


def _failed(stream_id: str, name: str, cause: Exception) -> AdapterError:
    adapter, text = "Redis stream store", f"could not {name} stream {stream_id!r}: {cause}"
    return AdapterError(adapter, text)
