"""An answer that survives its connection: the client is cut off in the middle, comes back, and has it whole."""

from collections.abc import AsyncIterator

import anyio

import partwise as pw
from partwise.runtimes import LocalThread
from partwise.stream.codecs import DataStreamDecoder, DataStreamEncoder, decode, encode
from partwise.stream.resumable import MemoryStreamStore, ResumableStreams

back_again = anyio.Event()


async def model() -> AsyncIterator[pw.Chunk]:
    """The model, on the server. It is asked once."""
    for text in ("Tides ", "come ", "from ", "the ", "moon "):
        yield pw.TextDelta(text)
    await back_again.wait()
    yield pw.TextDelta("and from the sun.")
    yield pw.Finish("stop")


async def network(pieces: AsyncIterator[bytes], breaks_after: int = 1000) -> AsyncIterator[bytes]:
    """The network, which breaks after some pieces."""
    async for piece in pieces:
        yield piece
        breaks_after -= 1
        if not breaks_after:
            raise ConnectionResetError


def show(thread: LocalThread) -> None:
    """Print the answer and its status."""
    for message in thread.state.messages:
        if isinstance(message, pw.AssistantMessage):
            print(message.status.type, "-", pw.message_text(message))


async def main() -> None:
    """Be both sides: the server is `streams`, the client is the runtime."""
    async with ResumableStreams(MemoryStreamStore(), ttl=600) as streams:

        async def ask(run: pw.RunContext) -> AsyncIterator[pw.Chunk]:
            pieces = await streams.produce("run-1", lambda: encode(model(), DataStreamEncoder()))
            async for chunk in decode(network(pieces, breaks_after=3), DataStreamDecoder()):
                yield chunk

        async def go_on(run: pw.RunContext) -> AsyncIterator[pw.Chunk]:
            pieces = await streams.resume("run-1")
            back_again.set()
            async for chunk in decode(network(pieces), DataStreamDecoder()):
                yield chunk

        async with pw.LocalRuntime(ask) as runtime:
            thread = runtime.thread
            await thread.append("Where do tides come from?")
            show(thread)
            print("on the server:", await streams.status("run-1"))

            question, answer = thread.state.messages
            await thread.resume_run(question.id, go_on, message_id=answer.id)
            show(thread)
        await streams.drain()
        print("on the server:", await streams.status("run-1"))


if __name__ == "__main__":
    anyio.run(main)
