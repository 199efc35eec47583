"""The controller: writing beside a reader, and what happens when either of them goes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from partwise.errors import NotAllowedError, WireError
from partwise.messages import DataPart, FilePart, IncompleteStatus, TextPart, ToolCallPart
from partwise.stream import Accumulator, Chunk, Finish, TextDelta, ToolArgsDelta, ToolArgsFinish, ToolCallStart
from partwise.stream.codecs import (
    AssistantTransportEncoder,
    DataStreamDecoder,
    DataStreamEncoder,
    StreamResponse,
    decode,
    encode,
)
from partwise.stream.writing import Placer, StreamController, stream_of
from partwise.testing import settled

pytestmark = pytest.mark.anyio


def folded(chunks: list[Any]) -> Any:
    accumulator = Accumulator(report=lambda problem: None)
    for chunk in chunks:
        accumulator.apply(chunk)
    return accumulator.finish()


async def read(write: Callable[[StreamController], Any], **options: Any) -> list[Any]:
    async with stream_of(write, **options) as chunks:
        return [chunk async for chunk in chunks]


async def given(*chunks: Any) -> AsyncIterator[Any]:
    for chunk in chunks:
        if isinstance(chunk, Exception):
            raise chunk
        yield chunk


# ---------------------------------------------------------------- writing


async def test_an_answer_is_read_while_it_is_written() -> None:
    seen: list[str] = []

    async def write(out: StreamController) -> None:
        out.text("a")
        await settled()
        seen.append("written")
        out.text("b")

    async with stream_of(write) as chunks:
        async for chunk in chunks:
            seen.append(type(chunk).__name__)  # noqa: PERF401 - order is the point, so nothing is collected first

    assert seen == ["PartStart", "PartDelta", "written", "PartDelta", "PartFinish"]


async def test_a_writer_that_asks_for_room_waits_for_its_reader() -> None:
    written = 0

    async def write(out: StreamController) -> None:
        nonlocal written
        for _ in range(100):
            out.text("a")
            written += 1
            await out.drain()

    async with stream_of(write, room=3) as out:
        await settled()
        before = written
        chunks = [chunk async for chunk in out]

    assert before == 3  # one part-start, and three deltas
    assert folded(chunks).content[0].text == "a" * 100


async def test_what_the_writer_raises_is_an_error_of_the_answer() -> None:
    async def write(out: StreamController) -> None:
        out.text("a")
        call = out.call("search", "c")
        call.append_args('{"q":')
        raise ValueError("gone")

    message = folded(await read(write))

    assert isinstance(message.status, IncompleteStatus)
    assert message.status.error["message"] == "gone"
    assert [getattr(part, "text", None) or part.args_text for part in message.content] == ["a", '{"q":']


async def test_the_controller_closes_itself_and_raises_on() -> None:
    out = StreamController()

    async def write() -> None:
        async with out:
            out.begin(TextPart("a"))
            raise ValueError("gone")

    with pytest.raises(ValueError, match="gone"):
        await write()

    chunks = [chunk async for chunk in out]
    assert folded(chunks).status.error["message"] == "gone"
    assert folded(chunks).content[0].status.type == "complete"


async def test_a_call_that_is_left_open_waits_for_its_result() -> None:
    async def write(out: StreamController) -> None:
        out.call("search", "c", args={"q": "sun"})
        out.write(Finish("tool-calls"))

    message = folded(await read(write))

    assert message.status.type == "requires-action"
    assert message.content[0].args == {"q": "sun"}


async def test_a_part_begun_with_all_that_is_known_is_written_at_once() -> None:
    part = ToolCallPart(tool_call_id="c", tool_name="search", args={"q": 1}, result={"r": 2}, is_error=True)

    async def write(out: StreamController) -> None:
        out.under("p").begin_call(part)

    (call,) = folded(await read(write)).content

    assert (call.args, call.result, call.is_error, call.parent_id) == ({"q": 1}, {"r": 2}, True, "p")


async def test_nothing_begins_in_a_closed_stream() -> None:
    out = StreamController()
    out.close()

    for begin in (
        lambda: out.text("a"),
        lambda: out.call("search"),
        lambda: out.add(FilePart(data="aGk=", media_type="image/png")),
    ):
        with pytest.raises(NotAllowedError) as caught:
            begin()
        assert caught.value.code == "stream-closed"


async def test_adding_too_late_is_reported_where_it_does_not_raise() -> None:
    reports: list[WireError] = []
    out = StreamController(is_strict=False, report=reports.append)
    part = out.begin(TextPart(""))
    part.close()

    part.append("late")

    assert [report.code for report in reports] == ["append-after-close"]


async def test_there_is_one_reader() -> None:
    out = StreamController()
    aiter(out)

    with pytest.raises(NotAllowedError) as caught:
        aiter(out)
    assert caught.value.code == "stream-locked"


async def test_what_is_written_after_the_reader_has_gone_goes_nowhere() -> None:
    out = StreamController()
    out.text("a")

    reading: Any = aiter(out)
    await anext(reading)
    await reading.aclose()
    out.text("b")
    out.call("search").respond(1)
    out.close()

    assert out.is_cancelled
    await out.drain()  # nobody waits for a reader that has gone


async def test_a_writer_is_cancelled_when_its_reader_stops() -> None:
    ended: list[str] = []

    async def write(out: StreamController) -> None:
        try:
            out.text("a")
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    async with stream_of(write) as chunks:
        async for _ in chunks:
            break

    assert ended == ["cancelled"]


# ---------------------------------------------------------------- merging


async def test_a_merged_stream_may_be_written_beside_this_one() -> None:
    other = StreamController()

    async def write(out: StreamController) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(out.merge, other)
            out.begin(TextPart("mine"))
            other.text("theirs")
            await settled()
            out.text("later")
            other.finish()

    message = folded(await read(write))

    assert [part.text for part in message.content] == ["mine", "theirs", "later"]


async def test_a_merged_stream_of_a_model_is_placed() -> None:
    chunks: list[Chunk] = [TextDelta("a"), ToolCallStart("c", "t"), ToolArgsDelta("c", "{}"), ToolArgsFinish("c")]

    async def write(out: StreamController) -> None:
        out.text("first")
        await out.merge(given(*chunks))
        out.text("last")

    message = folded(await read(write))

    assert [getattr(part, "text", None) or part.tool_call_id for part in message.content] == ["first", "a", "c", "last"]


async def test_a_merged_stream_that_fails_ends_the_answer_with_its_error() -> None:
    async def write(out: StreamController) -> None:
        out.text("a")
        await out.merge(given(TextDelta("b"), ValueError("gone")))

    message = folded(await read(write))

    assert [part.text for part in message.content] == ["a", "b"]
    assert message.status.error["message"] == "gone"


# ---------------------------------------------------------------- placing


async def test_after_an_error_nothing_comes_from_what_else_was_merged() -> None:
    ended: list[str] = []
    begun = anyio.Event()

    async def longer() -> AsyncIterator[Chunk]:
        try:
            for number in range(1_000):
                begun.set()
                await anyio.lowlevel.checkpoint()
                yield TextDelta(f"{number} ")
        finally:
            ended.append("longer")

    async def write(out: StreamController) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(out.merge, longer())
            await begun.wait()
            await out.merge(given(TextDelta("b"), ValueError("gone")))

    chunks = await read(write)

    kinds = [type(chunk).__name__ for chunk in chunks]
    assert kinds.count("ErrorChunk") == 1
    assert set(kinds[kinds.index("ErrorChunk") + 1 :]) <= {"PartFinish"}
    assert ended == ["longer"]


async def endless(ended: list[str]) -> AsyncIterator[Any]:
    try:
        while True:
            await anyio.lowlevel.checkpoint()
            yield TextDelta("a")
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.lowlevel.checkpoint()
        ended.append("closed")


async def bytes_of(chunks: AsyncIterator[Chunk]) -> AsyncIterator[bytes]:
    async with aclosing(encode(chunks, DataStreamEncoder())) as pieces:
        async for piece in pieces:
            yield piece


@pytest.mark.parametrize("reader", ["encode", "decode", "merge"])
async def test_who_stops_reading_closes_the_source_before_going_on(reader: str) -> None:
    ended: list[str] = []
    source = endless(ended)
    if reader == "merge":
        out = StreamController()

        async def leave() -> None:
            chunks = aiter(out)
            await anext(chunks)
            await chunks.aclose()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(leave)
            await out.merge(source)
    else:
        read_by = (
            encode(source, DataStreamEncoder()) if reader == "encode" else decode(bytes_of(source), DataStreamDecoder())
        )
        await anext(read_by)
        await read_by.aclose()

    assert ended == ["closed"]


async def test_a_writer_does_not_wait_for_an_encoder_that_has_gone() -> None:
    out = StreamController(room=1)
    written = encode(out, DataStreamEncoder())
    out.text("a")
    await anext(written)
    await written.aclose()
    for _ in range(3):
        out.text("b")
        await out.drain()

    assert out.is_cancelled


async def test_a_stream_that_was_read_to_its_end_is_closed_and_not_cancelled() -> None:
    out = StreamController()
    out.text("a")
    out.close()
    assert [data async for data in encode(out, DataStreamEncoder()) if data]

    assert not out.is_cancelled
    with pytest.raises(NotAllowedError, match="closed"):
        out.text("b")


def test_arguments_that_are_repeated_at_their_end_are_written_once() -> None:
    reports: list[WireError] = []
    placer = Placer(report=reports.append)
    chunks: list[Chunk] = [
        ToolCallStart("c", "t"),
        ToolArgsDelta("c", '{"a":'),
        ToolArgsFinish("c", '{"a":1}'),
        ToolCallStart("d", "t"),
        ToolArgsDelta("d", '{"b":'),
        ToolArgsFinish("d", '{"a":1}'),
    ]

    message = folded([placed for chunk in chunks for placed in placer.place(chunk)])

    assert [call.args_text for call in message.content] == ['{"a":1}', '{"b":']
    assert [report.code for report in reports] == ["unsaid"]


# ---------------------------------------------------------------- serving


async def request(app: StreamResponse, *, hang_up_after: int | None = None) -> list[dict[str, Any]]:
    """Send one request to an ASGI application, and return what it sends back."""
    sent: list[dict[str, Any]] = []
    gone = anyio.Event()
    first = True

    async def receive() -> dict[str, Any]:
        nonlocal first
        if first:
            first = False
            return {"type": "http.request", "body": b"", "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(dict(message))
        if hang_up_after is not None and len(sent) > hang_up_after:
            gone.set()

    await app({"type": "http"}, receive, send)
    return sent


async def test_a_stream_is_served_over_asgi() -> None:
    async def answer(out: StreamController) -> None:
        out.text("Hello")
        out.write(Finish("stop"))

    sent = await request(StreamResponse(answer, DataStreamEncoder(), headers={"X-Thread": "t"}))

    assert sent[0]["status"] == 200
    assert (b"content-type", b"text/plain; charset=utf-8") in sent[0]["headers"]
    assert (b"x-thread", b"t") in sent[0]["headers"]
    assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    decoder = DataStreamDecoder()
    chunks = decoder.feed(b"".join(message["body"] for message in sent[1:])) + decoder.close()
    assert folded(chunks).content[0].text == "Hello"


async def test_chunks_are_served_too() -> None:
    sent = await request(StreamResponse(given(TextDelta("a"), ValueError("gone")), AssistantTransportEncoder()))

    body = b"".join(message["body"] for message in sent[1:])
    assert b'"error":"gone"' in body
    assert body.endswith(b"data: [DONE]\n\n")


async def test_an_answer_is_cancelled_when_the_client_hangs_up() -> None:
    ended: list[str] = []

    async def answer(out: StreamController) -> None:
        try:
            out.text("Hello")
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    await request(StreamResponse(answer, DataStreamEncoder()), hang_up_after=1)

    assert ended == ["cancelled"]


async def test_a_client_that_is_gone_when_it_is_sent_to_ends_the_answer_without_an_error() -> None:
    async def answer(out: StreamController) -> None:
        while not out.is_cancelled:
            out.text("a")
            await out.drain()
            await anyio.lowlevel.checkpoint()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            raise OSError

    await StreamResponse(answer, DataStreamEncoder())({}, anyio.sleep_forever, send)


async def test_what_cannot_be_written_ends_the_response_as_its_wire_demands_and_is_raised_alone() -> None:
    sent: list[Any] = []

    async def answer(out: StreamController) -> None:
        out.text("a")
        out.add(DataPart(name="live", data=object()))

    async def send(message: Any) -> None:
        sent.append(message)

    with pytest.raises(WireError, match="cannot be written"):
        await StreamResponse(answer, DataStreamEncoder())({}, anyio.sleep_forever, send)

    assert b"cannot be written" in b"".join(message.get("body", b"") for message in sent)
    assert sent[-1]["more_body"] is False
