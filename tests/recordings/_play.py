"""Playing a recording through the SDK and the decoders, and holding the message against the facts."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from partwise.adapters import CancelSignal, RunContext
from partwise.messages import (
    RUNNING,
    AssistantMessage,
    DocumentSourcePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    thaw,
)
from partwise.providers.anthropic import MessagesDecoder
from partwise.providers.openai import ChatDecoder, ResponsesDecoder
from partwise.providers.replay import PROTOCOLS, replay
from partwise.providers.wire import Decoder
from partwise.stream import Fold
from partwise.tools import ModelContext

from . import _chat, _messages, _responses
from ._facts import Facts, Json, events_of

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "tests" / "providers" / "recordings"
SHARED = Path(os.environ.get("PARTWISE_SHARED") or ROOT.parent / "shared") / "streams"

ORACLES: dict[str, Callable[[list[Json]], Facts]] = {
    "openai-chat": _chat.facts,
    "openai-responses": _responses.facts,
    "anthropic-messages": _messages.facts,
}
DECODERS: dict[str, Callable[[], Decoder]] = {
    "openai-chat": ChatDecoder,
    "openai-responses": ResponsesDecoder,
    "anthropic-messages": MessagesDecoder,
}
assert ORACLES.keys() == DECODERS.keys() == PROTOCOLS.keys()


@dataclass(frozen=True)
class Played:
    """A recording after it was played.

    Attributes:
        reported: What the product logged or reported meanwhile.
        lost: Where the message differs from the facts.
    """

    message: AssistantMessage
    events: int
    reported: tuple[str, ...]
    lost: tuple[str, ...]


def shared_recordings() -> list[tuple[str, Path]]:
    """Return protocol and file of each shared recording; none where the folder does not exist."""
    return [(protocol, path) for protocol in ORACLES for path in sorted((SHARED / protocol).glob("*.*"))]


def own_recordings() -> list[tuple[str, Path]]:
    """Return protocol and file of each recording of this repository."""
    kinds = {"responses": "openai-responses", "anthropic": "anthropic-messages"}
    return [(kinds.get(path.name.partition("-")[0], "openai-chat"), path) for path in sorted(OWN.glob("*.*"))]


def new_message() -> AssistantMessage:
    """Return an answer that nothing has come of."""
    return AssistantMessage(id="a1", created_at=datetime(2026, 1, 1, tzinfo=UTC), status=RUNNING)


async def play(protocol: str, path: Path) -> Played:
    """Play a recording through the provider's SDK, and compare."""
    message = new_message()
    with _listening() as reported:
        fold = Fold(report=lambda problem: reported.append(str(problem)))
        model = replay(path)
        async with aclosing(model.run(_run(message))) as chunks:
            async for chunk in chunks:
                message = fold.apply(message, chunk)
        message = fold.finish(message)
    events = events_of(path)
    return Played(message, len(events), tuple(reported), tuple(differences(message, ORACLES[protocol](events))))


def differences(message: AssistantMessage, facts: Facts) -> Iterator[str]:
    """Give what the message does not hold as it was recorded."""
    yield from _differing("text", "".join(part.text for part in _parts(message, TextPart)), facts.text)
    yield from _differing("reasoning", "".join(part.text for part in _parts(message, ReasoningPart)), facts.reasoning)
    calls = _parts(message, ToolCallPart)
    yield from _differing("number of calls", len(calls), len(facts.calls))
    for part, (name, arguments) in zip(calls, facts.calls, strict=False):
        shown = part.args_text if isinstance(arguments, str) else json.loads(part.args_text or "{}")
        yield from _differing(f"call {part.tool_call_id}", (part.tool_name, shown), (name, arguments))
    by_id = {part.tool_call_id: part for part in calls}
    for call_id, result in facts.results.items():
        held = by_id.get(call_id)
        yield from _differing(f"result of {call_id}", None if held is None else thaw(held.result), result)
    sources = {part.id for part in _parts(message, UrlSourcePart) + _parts(message, DocumentSourcePart)}
    yield from _differing("sources", sorted(sources), sorted(facts.sources))
    yield from _differing("status", (message.status.type, getattr(message.status, "reason", "")), facts.status)
    counts = [step.usage.output_tokens for step in message.metadata.steps if step.usage is not None]
    told = [number for number in counts if number]
    yield from _differing("output tokens", sum(told) if told else None, facts.output_tokens)
    shown = repr(message)
    yield from (f"not kept: {value:.60}" for value in sorted(facts.opaque) if value not in shown)


def _differing(what: str, held: object, recorded: object) -> Iterator[str]:
    if held != recorded:
        yield f"{what}: {held!r:.300}, recorded {recorded!r:.300}"


def _parts(message: AssistantMessage, kind: type[Any]) -> list[Any]:
    return [part for part in message.content if isinstance(part, kind)]


def _run(message: AssistantMessage) -> RunContext:
    return RunContext(
        messages=(),
        assistant_message_id=message.id,
        parent_id=None,
        thread_id=None,
        run_id="r1",
        roundtrip=0,
        context=ModelContext(),
        run_config={},
        signal=CancelSignal(),
        current_message=lambda: message,
    )


@contextmanager
def _listening() -> Iterator[list[str]]:
    """Gather what the product logs."""
    heard: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(record.getMessage())
    logger = logging.getLogger("partwise")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield heard
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
