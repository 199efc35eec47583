"""From a server that keeps its streams, over a connection that breaks, to a message that is whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio
import pytest

from partwise.adapters import RunContext
from partwise.errors import NothingToResumeError, StreamFailedError
from partwise.messages import AssistantMessage, ReasoningPart, TextPart, ToolCallPart
from partwise.runtimes import LocalRuntime, LocalThread
from partwise.stream import (
    Chunk,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolCallStart,
    ToolResult,
)
from partwise.stream.codecs import CODECS, decode, encode
from partwise.stream.resumable import (
    STREAM_ID_HEADER,
    MemoryStreamStore,
    ResumableResponse,
    ResumableStreams,
    produce_response,
    resume_response,
)

CHUNKS: tuple[Chunk, ...] = (
    ReasoningDelta("think"),
    ReasoningDelta("ing"),
    TextDelta("Hel"),
    TextDelta("lo \N{SNOWMAN}. "),
    ToolCallStart("call-1", "look"),
    ToolArgsDelta("call-1", '{"at": '),
    ToolArgsDelta("call-1", '"sea"}'),
    ToolArgsFinish("call-1"),
    ToolResult("call-1", {"seen": [1, 2]}),
    TextDelta("It is "),
    TextDelta("blue."),
    Finish("stop"),
)
FULL = {"data-stream", "assistant-transport", "ui-message-stream"}


class Connection:
    """A connection to the server that breaks after so many bytes, cut wherever that is."""

    def __init__(self, response: ResumableResponse, breaks_after: int | None = None, piece: int = 7) -> None:
        self.response = response
        self._left = breaks_after
        self._piece = piece
        self._send, self._receive = anyio.create_memory_object_stream[bytes](0)
        self.has_hung_up = anyio.Event()
        self.headers: Mapping[str, str] = {}

    async def serve(self) -> None:
        async with self._send:
            await self.response({"type": "http"}, self._next_message, self._take)

    async def _next_message(self) -> dict[str, Any]:
        await self.has_hung_up.wait()
        return {"type": "http.disconnect"}

    async def _take(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        elif message["body"]:
            try:
                await self._send.send(message["body"])
            except anyio.BrokenResourceError as error:
                raise OSError("the client has hung up") from error  # as servers do

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with self._receive:
            async for data in self._receive:
                for start in range(0, len(data), self._piece):
                    piece = data[start : start + self._piece]
                    if self._left is not None:
                        piece, self._left = piece[: self._left], self._left - len(piece)
                    if piece:
                        yield piece
                    if self._left is not None and self._left <= 0:
                        self.has_hung_up.set()
                        raise ConnectionResetError("connection reset by peer")


class Server:
    """Answers with a codec; its model waits at a gate in the middle."""

    def __init__(self, streams: ResumableStreams, codec: str) -> None:
        self.streams = streams
        self.codec = CODECS[codec]
        self.gate = anyio.Event()
        self.starts = 0

    async def model(self) -> AsyncIterator[Chunk]:
        self.starts += 1
        for number, chunk in enumerate(CHUNKS):
            if number == 6:
                await self.gate.wait()
            yield chunk

    async def start(self) -> ResumableResponse:
        encoder = self.codec.encoder()
        return await produce_response(self.streams, "run-1", lambda: encode(self.model(), encoder), encoder.headers)

    async def resume(self) -> ResumableResponse:
        return await resume_response(self.streams, "run-1", self.codec.encoder().headers)


def told(message: AssistantMessage) -> list[object]:
    """What a message says, in order."""
    said: list[object] = []
    for part in message.content:
        match part:
            case TextPart() | ReasoningPart():
                said.append((part.type, part.text))
            case ToolCallPart():
                said.append((part.tool_call_id, part.args_text, part.result))
            case _:
                said.append(part)
    return said


def last(thread: LocalThread) -> AssistantMessage:
    message = thread.state.messages[-1]
    assert isinstance(message, AssistantMessage)
    return message


@pytest.mark.parametrize("breaks_after", [0, 1, 20, 61, 110])
@pytest.mark.parametrize("codec", sorted(CODECS))
async def test_an_answer_whose_connection_broke_is_whole_once_it_is_resumed(codec: str, breaks_after: int) -> None:
    whole = await _undisturbed(codec)
    connections: list[Connection] = []
    async with (
        ResumableStreams(MemoryStreamStore()) as streams,
        anyio.create_task_group() as group,
    ):
        server = Server(streams, codec)

        async def over(response: ResumableResponse, cut: int | None) -> AsyncIterator[Chunk]:
            connection = Connection(response, cut)
            connections.append(connection)
            group.start_soon(connection.serve)
            async for chunk in decode(connection, server.codec.decoder()):
                yield chunk

        async def ask(run: RunContext) -> AsyncIterator[Chunk]:
            async for chunk in over(await server.start(), breaks_after):
                yield chunk

        async def go_on(run: RunContext) -> AsyncIterator[Chunk]:
            server.gate.set()
            async for chunk in over(await server.resume(), None):
                yield chunk

        async with LocalRuntime(ask) as runtime:
            thread = runtime.thread
            if codec == "plain-text" and breaks_after > 8:
                server.gate.set()
            await thread.append("What is there?")
            if last(thread).status.type != "complete":
                assert last(thread).status.type == "incomplete"
                await thread.resume_run(thread.state.messages[0].id, go_on)
            assert told(last(thread)) == whole
            assert last(thread).status.type == "complete"
            assert [message.role for message in thread.state.messages] == ["user", "assistant"]
        assert server.starts == 1
        assert len(connections) == 2 or codec not in FULL
        assert connections[-1].headers[STREAM_ID_HEADER] == "run-1"
        await streams.drain()


async def _undisturbed(codec: str) -> list[object]:
    async with ResumableStreams(MemoryStreamStore()) as streams:
        server = Server(streams, codec)
        server.gate.set()

        async def ask(run: RunContext) -> AsyncIterator[Chunk]:
            async for chunk in decode((await server.start()).body, server.codec.decoder()):
                yield chunk

        async with LocalRuntime(ask) as runtime:
            await runtime.thread.append("What is there?")
            whole = told(last(runtime.thread))
    if codec in FULL:
        assert whole == [
            ("reasoning", "thinking"),
            ("text", "Hello \N{SNOWMAN}. "),
            ("call-1", '{"at": "sea"}', {"seen": [1, 2]}),
            ("text", "It is blue."),
        ]
    return whole


async def test_a_response_over_a_stream_that_fails_breaks_off_with_its_error_alone() -> None:
    async def source() -> AsyncIterator[bytes]:
        yield b"1"
        raise ValueError("broke")

    async with ResumableStreams(MemoryStreamStore(), listener=lambda event: None) as streams:
        for response in (await produce_response(streams, "a", source), await resume_response(streams, "a")):
            sent: list[Any] = []

            async def send(message: Any, sent: list[Any] = sent) -> None:
                sent.append(message)

            with pytest.raises(StreamFailedError, match="broke"):
                await response({"type": "http"}, anyio.sleep_forever, send)
            assert [message.get("body") for message in sent] == [None, b"1"]


async def test_a_run_is_not_resumed_without_a_stream() -> None:
    async def ask(run: RunContext) -> AsyncIterator[Chunk]:
        yield TextDelta("x")

    async with LocalRuntime(ask) as runtime:
        await runtime.thread.append("hi", starts_run=False)
        head = runtime.thread.state.head_id
        with pytest.raises(NothingToResumeError, match="Use start_run") as caught:
            runtime.thread.resume_run(head)
        assert (caught.value.parent_id, caught.value.code) == (head, "stream-required")
        assert len(runtime.thread.state.messages) == 1
        assert not runtime.thread.state.is_running
