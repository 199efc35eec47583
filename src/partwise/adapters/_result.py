"""What a chat model hands back: whole results, content so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from partwise.messages import MISSING, MessageStatus, MessageTiming, Missing, Step, freeze

__all__ = ["RunMetadata", "RunResult"]


def _tuple(value: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if value is None else tuple(value)


@attrs.frozen(kw_only=True)
class RunMetadata:
    """Metadata of a result; what is not given stays as it is.

    Attributes:
        state: Replaces the model's state.
        annotations, data, steps: Replace what this roundtrip said before; earlier roundtrips keep theirs.
        custom: Laid over the message's custom metadata.
    """

    state: Any = attrs.field(default=MISSING, converter=freeze)
    annotations: tuple[Any, ...] | None = attrs.field(default=None, converter=_tuple)
    data: tuple[Any, ...] | None = attrs.field(default=None, converter=_tuple)
    steps: tuple[Step, ...] | None = attrs.field(default=None, converter=_tuple)
    custom: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)
    timing: MessageTiming | None = None


@attrs.frozen(kw_only=True)
class RunResult:
    """An answer so far, or the whole of it. All fields are optional.

    Attributes:
        content: All parts of this roundtrip so far: part objects, or anything message-like. A later
            result replaces an earlier one; an empty sequence takes back what was shown.
        status: How the roundtrip stands; without one it counts as running until it ends, then as complete.
        metadata: See ``RunMetadata``.
    """

    content: Sequence[Any] | Missing = MISSING
    status: MessageStatus | None = None
    metadata: RunMetadata | None = None
