"""What chunks say beside the content: steps with their usage, state, annotations."""

from __future__ import annotations

from typing import Any

import attrs

from partwise.messages import MISSING, AssistantMetadata, FrozenDict, Step, Usage, freeze

from ._chunks import Finish, MetadataChunk, StepFinish, StepStart

__all__ = ["Steps", "with_metadata"]


class Steps:
    """Writes one entry into the message's steps for each roundtrip that the chunks tell of.

    Usage is a snapshot of its step: a later one is laid over the earlier one, field by field. The
    usage of a ``Finish`` that follows finished steps is a sum over them, and would count them twice.
    """

    __slots__ = ("_at", "_message_id", "_open", "_told")

    def __init__(self) -> None:
        self._open = False
        self._told = False
        self._message_id: str | None = None
        self._at: int | None = None

    def begin(self, metadata: AssistantMetadata, chunk: StepStart) -> AssistantMetadata:
        """A step begins; one that is still open ends with what is known of it."""
        if self._open:
            metadata = self._append(metadata, None)
        self._open, self._message_id, self._at = True, chunk.message_id, None
        return metadata

    def end(self, metadata: AssistantMetadata, chunk: StepFinish) -> AssistantMetadata:
        """The open step ends; without an open one this is a step of its own."""
        self._told = self._told or chunk.usage is not None
        return self._append(metadata, chunk.usage)

    def finish(self, metadata: AssistantMetadata, chunk: Finish) -> AssistantMetadata:
        """The answer ends, and with it the open step."""
        if self._open:
            return self._append(metadata, chunk.usage)
        if chunk.usage is None or self._told:
            return metadata
        if self._at is None or self._at >= len(metadata.steps):
            return self._append(metadata, chunk.usage)
        step = metadata.steps[self._at]
        updated = attrs.evolve(step, usage=_merge(step.usage, chunk.usage))
        if updated == step:
            return metadata
        return attrs.evolve(metadata, steps=(*metadata.steps[: self._at], updated, *metadata.steps[self._at + 1 :]))

    def _append(self, metadata: AssistantMetadata, usage: Usage | None) -> AssistantMetadata:
        step = Step(message_id=self._message_id, usage=usage)
        self._at = len(metadata.steps)
        self._open, self._message_id = False, None
        return attrs.evolve(metadata, steps=(*metadata.steps, step))


def with_metadata(metadata: AssistantMetadata, chunk: MetadataChunk) -> AssistantMetadata:
    """Return the metadata with what the chunk gives."""
    changes: dict[str, Any] = {}
    if chunk.state is not MISSING and chunk.state != metadata.state:
        changes["state"] = chunk.state
    if chunk.annotations:
        changes["annotations"] = (*metadata.annotations, *(freeze(item) for item in chunk.annotations))
    if chunk.data:
        changes["data"] = (*metadata.data, *(freeze(item) for item in chunk.data))
    if chunk.custom:
        custom = FrozenDict({**metadata.custom, **chunk.custom})
        if custom != metadata.custom:
            changes["custom"] = custom
    return attrs.evolve(metadata, **changes) if changes else metadata


def _merge(old: Usage | None, new: Usage) -> Usage:
    if old is None:
        return new
    given = {name: value for name, value in attrs.asdict(new).items() if value is not None}
    return attrs.evolve(old, **given)
