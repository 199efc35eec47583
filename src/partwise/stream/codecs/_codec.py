"""What all codecs have in common, and reading and writing whole streams with them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping
from types import MappingProxyType
from typing import ClassVar, Final, Protocol

import attrs

from partwise.errors import WireError
from partwise.messages import error_record
from partwise.stream._chunks import Chunk, ErrorChunk
from partwise.stream._closing import reading

from ._ag_ui_decoder import AgUiDecoder
from ._ag_ui_encoder import AgUiEncoder
from ._assistant_transport import AssistantTransportDecoder, AssistantTransportEncoder
from ._data_stream import DataStreamDecoder
from ._data_stream_encoder import DataStreamEncoder
from ._plain_text import PlainTextDecoder, PlainTextEncoder
from ._ui_encoder import UIMessageStreamEncoder
from ._ui_stream import UIMessageStreamDecoder

__all__ = ["CODECS", "Codec", "Decoder", "Encoder", "decode", "encode"]


class Encoder(Protocol):
    """From chunks to bytes.

    Attributes:
        headers: For the HTTP response.
    """

    headers: ClassVar[Mapping[str, str]]

    def encode(self, chunk: Chunk) -> bytes:
        """Return the bytes of a chunk.

        Raises:
            WireError: The chunk cannot be written.
        """
        ...

    def close(self) -> bytes:
        """Return what ends the stream."""
        ...


class Decoder(Protocol):
    """From bytes to chunks.

    A decoder raises nothing: what ends the reading is its last chunk, and its ``problem``.
    """

    @property
    def problem(self) -> WireError | None:
        """What has ended the reading before its time."""
        ...

    def feed(self, data: bytes) -> list[Chunk]:
        """Return the chunks that end in these bytes."""
        ...

    def close(self) -> list[Chunk]:
        """Return what is left when the bytes have ended."""
        ...


@attrs.frozen
class Codec:
    """A wire format: how to make its encoder and its decoder, with their usual settings."""

    name: str
    encoder: Callable[[], Encoder]
    decoder: Callable[[], Decoder]


CODECS: Final[Mapping[str, Codec]] = MappingProxyType(
    {
        codec.name: codec
        for codec in (
            Codec("data-stream", DataStreamEncoder, DataStreamDecoder),
            Codec("assistant-transport", AssistantTransportEncoder, AssistantTransportDecoder),
            Codec("ui-message-stream", UIMessageStreamEncoder, UIMessageStreamDecoder),
            Codec("plain-text", PlainTextEncoder, PlainTextDecoder),
            Codec("ag-ui", AgUiEncoder, AgUiDecoder),
        )
    }
)


async def encode(chunks: AsyncIterable[Chunk], encoder: Encoder) -> AsyncGenerator[bytes, None]:
    """Write a stream of chunks, for a streaming response.

    If ``chunks`` raises, or gives what cannot be written, the reader is told so by an error and the stream
    ends properly; the exception is raised after that.

    Args:
        chunks: What is to be written.
        encoder: The wire format.
    """
    failure: Exception | None = None
    try:
        async with reading(chunks) as values:
            async for chunk in values:
                data = encoder.encode(chunk)
                if data:
                    yield data
    except Exception as error:
        failure = error
        yield encoder.encode(ErrorChunk(error_record(error)))
    yield encoder.close()
    if failure is not None:
        raise failure


async def decode(pieces: AsyncIterable[bytes], decoder: Decoder) -> AsyncGenerator[Chunk, None]:
    """Read a stream of chunks from the bytes of a response.

    If ``pieces`` raises, for example because the server has hung up, that is the last chunk: an error. What
    had come before it stays.

    Args:
        pieces: The bytes, cut anywhere.
        decoder: The wire format.
    """
    failure: Exception | None = None
    try:
        async with reading(pieces) as values:
            async for piece in values:
                for chunk in decoder.feed(piece):
                    yield chunk
                if decoder.problem is not None:
                    break
    except Exception as error:
        failure = error
    for chunk in decoder.close():
        yield chunk
    if failure is not None:
        yield ErrorChunk(error_record(failure))
