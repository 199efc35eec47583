"""What chunks say beside the content: steps with their usage, state, annotations."""

from __future__ import annotations

from typing import Any

import attrs

from partwise.messages import MISSING, AssistantMetadata, FrozenDict, Step, Usage, freeze

from ._chunks import Finish, MetadataChunk, StepFinish, StepStart

__all__ = ["Steps", "with_metadata"]


class Steps:
    """Writes one entry into the message's steps for each roundtrip that the chunks tell of.

    A step is entered when it begins, and gets its usage when it ends. An end without a beginning is a
    step of its own, with an id made from its number.
    """

    __slots__ = ("_is_open", "_is_told", "_last")

    def __init__(self) -> None:
        self._is_open = False
        self._is_told = False
        self._last: int | None = None

    def begin(self, metadata: AssistantMetadata, chunk: StepStart) -> AssistantMetadata:
        """A step begins; one that is still open stays as it is."""
        self._is_open = True
        return self._append(metadata, Step(message_id=chunk.message_id))

    def end(self, metadata: AssistantMetadata, chunk: StepFinish) -> AssistantMetadata:
        """The open step ends."""
        self._is_told = self._is_told or chunk.usage is not None
        return self._ended(metadata, chunk.usage)

    def finish(self, metadata: AssistantMetadata, chunk: Finish) -> AssistantMetadata:
        """The answer ends, and with it the open step; its usage counts unless a step has told it."""
        if chunk.usage is None or (self._is_told and not self._is_open):
            return metadata
        if self._is_open or self._last is None:
            return self._ended(metadata, chunk.usage)
        return self._described(metadata, self._last, chunk.usage)

    def _ended(self, metadata: AssistantMetadata, usage: Usage | None) -> AssistantMetadata:
        if not self._is_open or self._last is None:
            return self._append(metadata, Step(message_id=f"step-{len(metadata.steps)}", usage=usage))
        self._is_open = False
        return metadata if usage is None else self._described(metadata, self._last, usage)

    def _append(self, metadata: AssistantMetadata, step: Step) -> AssistantMetadata:
        self._last = len(metadata.steps)
        return attrs.evolve(metadata, steps=(*metadata.steps, step))

    def _described(self, metadata: AssistantMetadata, at: int, usage: Usage) -> AssistantMetadata:
        if at >= len(metadata.steps):  # somebody took it away
            return self._append(metadata, Step(message_id=f"step-{len(metadata.steps)}", usage=usage))
        step = metadata.steps[at]
        updated = attrs.evolve(step, usage=_merge(step.usage, usage))
        if updated == step:
            return metadata
        return attrs.evolve(metadata, steps=(*metadata.steps[:at], updated, *metadata.steps[at + 1 :]))


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
