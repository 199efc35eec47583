"""What every store of resumable streams does."""

from __future__ import annotations

import anyio
import pytest

from partwise.errors import (
    CursorError,
    InvalidInputError,
    StreamFailedError,
    StreamLimitError,
    StreamLostError,
    StreamNotFoundError,
)
from partwise.stream.resumable import Edition, StreamFailure
from partwise.testing import settled
from tests.stream.resumable.scenes import Bench, acquired, tail, written

ABC = (b"a", b"", b"\x00\xff\r\n")


async def test_a_reader_gets_the_bytes_that_were_written(bench: Bench) -> None:
    edition = await written(bench.store, *ABC)
    await bench.store.finalize(edition, None)
    assert await tail(bench.store, edition) == list(enumerate(ABC, 1))
    assert await tail(bench.store, edition, "2") == [(3, ABC[2])]
    assert await tail(bench.store, edition, "3") == []


async def test_the_first_one_produces(bench: Bench) -> None:
    first = await bench.store.acquire("a", ttl=None, lease=30)
    second = await bench.store.acquire("a", ttl=None, lease=30)
    assert (first.is_producer, second.is_producer) == (True, False)
    assert first.edition == second.edition
    found = await bench.store.find("a")
    assert found is not None
    assert (found.edition, found.status) == (first.edition, "streaming")
    assert await bench.store.find("b") is None


async def test_of_many_who_ask_at_once_one_produces(bench: Bench) -> None:
    answers: list[bool] = []

    async def ask() -> None:
        answers.append((await bench.store.acquire("a", ttl=None, lease=30)).is_producer)

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(ask)
    assert sorted(answers) == [False] * 19 + [True]


async def test_an_append_that_is_repeated_is_stored_once_and_one_with_a_gap_not_at_all(bench: Bench) -> None:
    edition = await written(bench.store, b"1", b"2")
    await bench.store.append(edition, 2, b"2")
    await bench.store.append(edition, 1, b"1")
    with pytest.raises(InvalidInputError, match="Chunk 4"):
        await bench.store.append(edition, 4, b"4")
    await bench.store.append(edition, 3, b"3")
    await bench.store.finalize(edition, None)
    assert await tail(bench.store, edition) == [(1, b"1"), (2, b"2"), (3, b"3")]


async def test_a_reader_that_waits_is_woken_by_a_chunk_and_by_the_end(bench: Bench) -> None:
    edition = await acquired(bench.store)
    got: list[object] = []

    async def read() -> None:
        got.append(await tail(bench.store, edition))

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(read)
        for index in range(1, 40):
            await bench.store.append(edition, index, b"%d" % index)
        await bench.store.finalize(edition, None)
    assert got == [[(index, b"%d" % index) for index in range(1, 40)]] * 3


@pytest.mark.parametrize(
    ("failure", "code", "text"),
    [
        (StreamFailure("failed", "broke \udc80 \N{SNOWMAN}"), "failed", "broke \udc80 \N{SNOWMAN}"),
        (StreamFailure("failed", ""), "unspecified", "did not say why"),
        (StreamFailure("chunk-too-large", "too large"), "chunk-too-large", "too large"),
    ],
)
async def test_a_failure_comes_after_the_chunks_and_says_why(
    bench: Bench, failure: StreamFailure, code: str, text: str
) -> None:
    edition = await written(bench.store, b"1")
    await bench.store.finalize(edition, failure)
    reader = bench.store.read(edition)
    assert (await anext(reader)).data == b"1"
    with pytest.raises(StreamFailedError) as caught:
        await anext(reader)
    assert (caught.value.code, caught.value.stream_id) == (code, "a")
    assert text in str(caught.value)
    found = await bench.store.find("a")
    assert found is not None
    assert found.status == "error"


async def test_a_stream_ends_once_and_to_end_it_so_again_does_nothing(bench: Bench) -> None:
    edition = await written(bench.store, b"1")
    failure = StreamFailure("failed", "broke")
    await bench.store.finalize(edition, failure)
    await bench.store.finalize(edition, failure)
    for attempt in (
        lambda: bench.store.finalize(edition, None),
        lambda: bench.store.append(edition, 2, b"2"),
        lambda: bench.store.renew(edition),
    ):
        with pytest.raises(StreamLostError) as caught:
            await attempt()
        assert caught.value.code == "finalized"


async def test_a_delete_ends_readers_and_cuts_the_producer_off(bench: Bench) -> None:
    old = await written(bench.store, b"1", b"2")
    waiting, slow = bench.store.read(old), bench.store.read(old)
    assert [(await anext(waiting)).data, (await anext(waiting)).data, (await anext(slow)).data] == [b"1", b"2", b"1"]
    rest: list[object] = []

    async def wait() -> None:
        rest.append([entry async for entry in waiting])

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await settled()
        await bench.store.delete("a")
    assert rest == [[]]
    # A chunk that was fetched before the delete may still come.
    assert [entry.data async for entry in slow] in ([], [b"2"])
    assert await bench.store.find("a") is None
    with pytest.raises(StreamNotFoundError):
        await bench.store.append(old, 3, b"3")
    new = await written(bench.store, b"new")
    for attempt in (lambda: bench.store.append(old, 3, b"3"), lambda: bench.store.finalize(old, None)):
        with pytest.raises(StreamLostError) as caught:
            await attempt()
        assert caught.value.code == "superseded"
    await bench.store.finalize(new, None)
    assert await tail(bench.store, new) == [(1, b"new")]
    await bench.store.delete("a")
    await bench.store.delete("a")


async def test_a_stream_whose_time_is_over_is_gone_and_its_readers_are_told(bench: Bench) -> None:
    edition = await written(bench.store, b"1", b"2")
    reader = bench.store.read(edition)
    assert [(await anext(reader)).data, (await anext(reader)).data] == [b"1", b"2"]
    await bench.expire("a")
    with pytest.raises(StreamFailedError) as caught:
        await anext(reader)
    assert caught.value.code == "expired"
    with pytest.raises(StreamNotFoundError):
        await tail(bench.store, edition)
    with pytest.raises(StreamNotFoundError):
        await bench.store.append(edition, 3, b"3")
    with pytest.raises(StreamNotFoundError):
        await bench.store.finalize(edition, None)
    assert await bench.store.find("a") is None
    assert (await bench.store.acquire("a", ttl=None, lease=30)).is_producer


async def test_a_reader_that_waits_when_the_time_is_over_is_told(bench: Bench) -> None:
    edition = await acquired(bench.store)
    codes: list[str] = []

    async def read() -> None:
        with pytest.raises(StreamFailedError) as caught:
            await tail(bench.store, edition)
        codes.append(caught.value.code)

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(read)
        await settled()
        await bench.expire("a")
    assert codes == ["expired", "expired"]


async def test_a_producer_without_a_sign_of_life_is_dead_and_its_stream_failed(bench: Bench) -> None:
    edition = await written(bench.store, b"1")
    codes: list[str] = []

    async def read() -> None:
        reader = bench.store.read(edition)
        assert (await anext(reader)).data == b"1"
        with pytest.raises(StreamFailedError) as caught:
            await anext(reader)
        codes.append(caught.value.code)

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(read)
        await settled()
        await bench.kill("a")
    await read()
    assert codes == ["abandoned"] * 3
    found = await bench.store.find("a")
    assert found is not None
    assert found.status == "error"
    for attempt in (
        lambda: bench.store.append(edition, 2, b"2"),
        lambda: bench.store.renew(edition),
        lambda: bench.store.finalize(edition, None),
    ):
        with pytest.raises(StreamLostError) as lost:
            await attempt()
        assert lost.value.code == "abandoned"
    assert not (await bench.store.acquire("a", ttl=None, lease=30)).is_producer


@pytest.mark.parametrize("cursor", ["!!", "", "-1", "01", " 1", "1.0", "A", "9" * 40, "4", "z"])
async def test_a_place_that_the_stream_does_not_have_is_refused(bench: Bench, cursor: str) -> None:
    edition = await written(bench.store, b"1", b"2", b"3")
    with pytest.raises(CursorError) as caught:
        await tail(bench.store, edition, cursor)
    assert (caught.value.stream_id, caught.value.cursor) == ("a", cursor)


async def test_an_edition_that_never_was_is_not_found(bench: Bench) -> None:
    nobodys = Edition("a", "nobody's")
    for attempt in (
        lambda: bench.store.append(nobodys, 1, b"1"),
        lambda: bench.store.finalize(nobodys, None),
        lambda: bench.store.renew(nobodys),
        lambda: tail(bench.store, nobodys),
    ):
        with pytest.raises(StreamNotFoundError) as caught:
            await attempt()
        assert caught.value.id == "a"


async def test_what_is_over_a_limit_is_refused_and_the_rest_stays(bench: Bench) -> None:
    edition = await written(bench.store, *[b"x"] * 3)
    with pytest.raises(StreamLimitError) as caught:
        await bench.store.append(edition, 4, bytes((1 << 20) + 1))
    assert caught.value.code == "chunk-too-large"
    for index in range(4, 7):
        await bench.store.append(edition, index, bytes(1 << 20))
    with pytest.raises(StreamLimitError) as caught:
        await bench.store.append(edition, 7, bytes(1 << 20))
    assert caught.value.code == "too-many-bytes"
    for index in range(7, 501):
        await bench.store.append(edition, index, b"")
    with pytest.raises(StreamLimitError) as caught:
        await bench.store.append(edition, 501, b"")
    assert caught.value.code == "too-many-entries"
    await bench.store.finalize(edition, None)
    assert len(await tail(bench.store, edition)) == 500


async def test_who_lacks_what_was_trimmed_is_told_and_the_others_go_on(bench: Bench) -> None:
    edition = await written(bench.store, b"1", b"2", b"3", b"4")
    ahead, behind = bench.store.read(edition, "3"), bench.store.read(edition, "1")
    await bench.store.trim("a", keep=1)
    await bench.store.trim("missing", keep=1)
    assert (await anext(ahead)).data == b"4"
    with pytest.raises(StreamFailedError, match="Chunks 2 to 3") as caught:
        await anext(behind)
    assert caught.value.code == "trimmed"
    await bench.store.append(edition, 5, b"5")
    await bench.store.trim("a", keep=0)
    await bench.store.finalize(edition, None)
    assert await tail(bench.store, edition, "5") == []
    with pytest.raises(StreamFailedError) as caught:
        await anext(ahead)
    assert caught.value.code == "trimmed"


async def test_streams_do_not_see_each_other(bench: Bench) -> None:
    one, other = await written(bench.store, b"1"), await written(bench.store, b"2", stream_id="a:b")
    await bench.store.delete("a")
    with pytest.raises(StreamNotFoundError):
        await bench.store.append(one, 2, b"")
    await bench.store.finalize(other, None)
    assert await tail(bench.store, other) == [(1, b"2")]
