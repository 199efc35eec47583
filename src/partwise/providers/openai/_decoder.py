"""From Chat Completions payloads to chunks."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from itertools import chain
from typing import assert_never

from partwise.messages import FilePart, ImagePart, UrlSourcePart, Usage, error_record
from partwise.providers.wire import Json, Payload, Unknown, error_of, fields_of, mapping, mappings, merge_usage, word
from partwise.stream import (
    Chunk,
    ErrorChunk,
    Finish,
    FinishReason,
    PartChunk,
    ReasoningDelta,
    StepFinish,
    StepStart,
    TextDelta,
)

from ._fields import (
    Piece,
    finish_of,
    images_of,
    reasoning_marks,
    sources_of,
    text_pieces,
    unknown_content,
    usage_of,
)
from ._marks import Marks
from ._think import ThinkTags
from ._tool_calls import ToolCallFragments

__all__ = ["ChatDecoder"]


_CONTENT = ("content", "reasoning_content", "reasoning", "refusal", "tool_calls", "function_call", "executed_tools")
_NOTHING: Json = {}
_REFUSAL = {"openai": {"refusal": True}}


class ChatDecoder:
    """Turns the payloads of one streamed answer into chunks, and knows the habits of the servers that send them.

    Pure and incremental: no network, no clock. Only the first choice is read. The answer's end is told
    by ``close``, because usage, a second completion or an error may follow a finish reason. What the
    end means is decided by the calls that are open, with the server's reason as a hint.

    Args:
        think_tags: Whether text between ``<think>`` and ``</think>`` is reasoning.

    ```python
    decoder = ChatDecoder()
    for payload in payloads:
        for chunk in decoder.decode(payload):
            ...
    for chunk in decoder.close():
        ...
    ```
    """

    __slots__ = (
        "_audio",
        "_calls",
        "_cited",
        "_finish",
        "_has_failed",
        "_id",
        "_images",
        "_marks",
        "_sources",
        "_think",
        "_unknown",
        "_usage",
    )

    def __init__(self, *, think_tags: bool = False) -> None:
        self._id = ""
        self._calls = ToolCallFragments()
        self._think = ThinkTags() if think_tags else None
        self._finish: FinishReason | None = None
        self._has_failed = False
        self._usage: Usage | None = None
        self._marks = Marks()
        self._sources: dict[str, UrlSourcePart] = {}
        self._cited: set[str] = set()
        self._images: set[str] = set()
        self._audio: list[bytes] = []
        self._unknown = Unknown()

    def decode(self, payload: Payload) -> list[Chunk]:
        """Return the chunks that a payload gives; usually one, often none."""
        fields = fields_of(payload)
        choice = next((item for item in mappings(fields.get("choices")) if item.get("index") in (0, None)), _NOTHING)
        delta = mapping(choice.get("delta"))
        chunks: list[Chunk] = []
        new_id = word(fields.get("id"))
        if self._finish is not None and new_id not in ("", self._id) and any(delta.get(name) for name in _CONTENT):
            chunks += self._begin_completion(new_id)
        self._id = self._id or new_id
        content = chain(self._content(delta), self._calls.decode(delta, self._id))
        chunks += self._marks.beside(content, reasoning_marks(delta))
        self._remember(fields, choice, delta)
        finish = finish_of(choice)
        if finish is not None:
            self._finish = finish
            chunks += self._end_parts()
        if fields.get("error"):
            chunks += self.fail(error_of(fields["error"]))
        return chunks

    def fail(self, error: object) -> list[Chunk]:
        """Return the chunk for a failure of the stream; one failure is told, however often a server repeats it.

        Args:
            error: An exception, a text or a structured error.
        """
        self._calls.abandon()
        if self._has_failed:
            return []
        self._has_failed = True
        return [*self._rest(), ErrorChunk(error_record(error))]

    def close(self) -> list[Chunk]:
        """Return the chunks for the end of the stream. Without a finish reason the answer is incomplete."""
        if self._has_failed:
            return [StepFinish(self._usage)] if self._usage else []
        if self._finish is None:
            self._calls.abandon()
            return [*self._rest(), Finish("other", self._usage)]
        return [*self._end_parts(), *self._audio_file(), Finish(self._reason(self._finish), self._usage)]

    def _begin_completion(self, completion_id: str) -> Iterator[Chunk]:
        yield from self._end_parts()
        yield StepFinish(self._usage)
        yield StepStart()
        self._id, self._finish, self._usage = completion_id, None, None
        self._marks = Marks()

    def _content(self, delta: Json) -> Iterator[Chunk]:
        for piece in text_pieces(delta):
            if self._think is not None and piece[0] == "text":
                yield from (_text_chunk(part) for part in self._think.split(piece[1]))
            elif piece[1]:
                yield _text_chunk(piece)
        for url in images_of(delta):
            if url and url not in self._images:
                self._images.add(url)
                yield PartChunk(ImagePart(image=url))
        for kind in unknown_content(delta):
            self._unknown.report(f"content of an unknown type: {kind!r}")

    def _remember(self, fields: Json, choice: Json, delta: Json) -> None:
        self._usage = merge_usage(self._usage, usage_of(fields, choice))
        for source in sources_of(fields, delta):
            self._sources.setdefault(source.id, source)
        sound = word(mapping(delta.get("audio")).get("data"))
        if sound:
            try:
                self._audio.append(base64.b64decode(sound))
            except binascii.Error:
                return

    def _end_parts(self) -> Iterator[Chunk]:
        yield from self._rest()
        yield from self._calls.close()

    def _rest(self) -> Iterator[Chunk]:
        """Give what was held back: an undecided tag, and sources, which stand after the text that cites them."""
        if self._think is not None:
            yield from self._marks.beside(map(_text_chunk, self._think.close()), ())
        yield from self._marks.rest()
        for source in self._sources.values():
            if source.id not in self._cited:
                self._cited.add(source.id)
                yield PartChunk(source)

    def _audio_file(self) -> Iterator[Chunk]:
        if self._audio:
            data = base64.b64encode(b"".join(self._audio)).decode()
            yield PartChunk(FilePart(data=data, media_type="audio/pcm"))  # the one format that can be streamed

    def _reason(self, finish: FinishReason) -> FinishReason:
        has_calls = self._calls.count > 0
        if finish == "stop" and has_calls:
            return "tool-calls"
        return "stop" if finish == "tool-calls" and not has_calls else finish


def _text_chunk(piece: Piece) -> Chunk:
    kind, text = piece
    match kind:
        case "text":
            return TextDelta(text)
        case "reasoning":
            return ReasoningDelta(text)
        case "refusal":
            return TextDelta(text, part_id="refusal", provider_metadata=_REFUSAL)
        case _:
            assert_never(kind)
