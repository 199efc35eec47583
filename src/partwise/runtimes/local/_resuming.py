"""Answers that go on with a stream from elsewhere: which message such a stream answers, and when it is one of old."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from partwise.adapters import ChatModel, ChatModelFunction
from partwise.errors import NotAllowedError
from partwise.messages import AssistantMessage
from partwise.runtimes._operation import Operation

from ._host import Host
from ._runs import Runs

__all__ = ["resume"]

_VIA = "resume"


def resume(
    host: Host,
    runs: Runs,
    parent_id: str | None,
    stream: ChatModel | ChatModelFunction,
    *,
    message_id: str | None,
    run_config: Mapping[str, Any],
) -> Operation:
    """Answer with a stream; whoever asks for an answer that is being resumed already shares that run.

    Raises:
        NotAllowedError: The message is no answer (``"not-assistant"``), or to another message (``"other-parent"``).
    """
    active = runs.active
    is_shared = active is not None and active.via == _VIA and active.message_id == message_id
    if active is not None and is_shared and not active.is_cancelled:
        return active.operation
    answer = None if message_id is None else _answer(host, message_id, parent_id)
    host.announce()
    return runs.start(
        parent_id, run_config=run_config, message=answer, message_id=message_id, stream=stream, via=_VIA
    ).operation


def _answer(host: Host, message_id: str, parent_id: str | None) -> AssistantMessage | None:
    place = host.document.tree.find(message_id)
    if place is None:
        return None
    if not isinstance(place.message, AssistantMessage):
        text = f"Message {message_id!r} is the {place.message.role}'s; only answers can be resumed."
        raise NotAllowedError(text, code="not-assistant", id=message_id)
    if place.parent_id != parent_id:
        text = (
            f"Message {message_id!r} answers {place.parent_id!r}, not {parent_id!r}. "
            "Give the message that it answers, or leave out message_id for a new answer."
        )
        raise NotAllowedError(text, code="other-parent", id=message_id)
    return place.message
