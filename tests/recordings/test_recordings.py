"""Every recording, through the SDK and the code that reads live answers, held against its raw events."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from partwise.messages import AssistantMessage, IncompleteStatus, ReasoningPart, TextPart, ToolCallPart
from partwise.providers.anthropic import messages_input
from partwise.providers.openai import chat_messages, responses_input
from partwise.providers.replay import read_recording
from partwise.providers.wire import PayloadReader, is_provider_executed
from partwise.stream import Chunk, Fold
from tests.providers.conversation import user
from tests.providers.typed import check_blocks, check_chat, check_items

from . import _table
from ._play import DECODERS, ORACLES, SHARED, differences, events_of, new_message, own_recordings, play
from ._play import shared_recordings as shared

OWN = own_recordings()
# What happened to the answer, and is told beside it.
REPORTED = {"shell-container.jsonl": "takes its place"}
_SMALL = 300


def each(recordings: Iterable[tuple[str, Path]]) -> pytest.MarkDecorator:
    cases = [pytest.param(protocol, path, id=f"{protocol}/{path.name}") for protocol, path in recordings]
    return pytest.mark.parametrize(("protocol", "path"), cases)


ALL = [*OWN, *(shared() or [("openai-chat", SHARED / "none")])]
SMALL = [(protocol, path) for protocol, path in ALL if not path.is_file() or len(events_of(path)) <= _SMALL]


@pytest.fixture(autouse=True)
def _are_there(request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue("path") if "path" in request.fixturenames else None
    if path is not None and not path.exists():
        request.getfixturevalue("recordings")  # skips, and says why


def chunks_of(protocol: str, payloads: Iterable[dict[str, Any]]) -> Iterator[Chunk]:
    decoder = DECODERS[protocol]()
    for payload in payloads:
        yield from decoder.decode(payload)
    yield from decoder.close()


def folded(protocol: str, payloads: Iterable[dict[str, Any]]) -> AssistantMessage:
    message, fold = new_message(), Fold()
    for chunk in chunks_of(protocol, payloads):
        message = fold.apply(message, chunk)
    return fold.finish(message)


def payloads_of(pieces: Iterable[bytes]) -> list[dict[str, Any]]:
    reader = PayloadReader()
    return [*(payload for piece in pieces for payload in reader.feed(piece)), *reader.close()]


def payloads_in(path: Path) -> list[dict[str, Any]]:
    return payloads_of(read_recording(path).pieces)


@pytest.mark.anyio
@each(ALL)
async def test_the_message_holds_what_was_recorded_and_nothing_is_lost(protocol: str, path: Path) -> None:
    played = await play(protocol, path)

    assert played.lost == ()
    expected = REPORTED.get(path.name)
    assert [expected in line for line in played.reported] == ([True] if expected else [])
    assert all(part.text for part in played.message.content if isinstance(part, (TextPart, ReasoningPart)))
    ids = [part.tool_call_id for part in played.message.content if isinstance(part, ToolCallPart)]
    assert len(ids) == len(set(ids))


@pytest.mark.anyio
@each(ALL)
async def test_an_answer_goes_back_in_the_types_of_the_sdk(protocol: str, path: Path) -> None:
    message = (await play(protocol, path)).message
    answered = tuple(
        attrs.evolve(part, result="2") if isinstance(part, ToolCallPart) and _is_asked(part) else part
        for part in message.content
    )
    history = [attrs.evolve(message, content=answered), user("And?")]

    match protocol:
        case "openai-chat":
            check_chat(chat_messages(history))
        case "openai-responses":
            for last in (history, history[:1]):
                check_items(responses_input(last, is_stored=False))
        case _:
            check_blocks(messages_input(history)[1])


def _is_asked(part: ToolCallPart) -> bool:
    return not part.has_result and not is_provider_executed(part)


@each(ALL)
def test_bytes_cut_anywhere_give_the_same_answer(protocol: str, path: Path) -> None:
    data = b"".join(read_recording(path).pieces)
    whole = payloads_of([data])
    sizes = (1, 7, 61) if len(data) < 20_000 else (61,)
    if len(data) > 200_000:
        sizes = (997,)
    for size in sizes:
        assert payloads_of(data[at : at + size] for at in range(0, len(data), size)) == whole


@each(SMALL)
def test_an_answer_cut_after_any_event_keeps_its_parts_and_is_not_complete(protocol: str, path: Path) -> None:
    payloads = payloads_in(path)
    terminal = next((at for at, payload in enumerate(payloads) if _may_end(payload)), len(payloads))
    before = 0
    for count in range(0, terminal + 1, 1 + terminal // 50):
        cut = folded(protocol, payloads[:count])
        assert cut.status == IncompleteStatus("other")
        assert len(cut.content) >= before
        before = len(cut.content)


def _may_end(payload: dict[str, Any]) -> bool:
    """Whether an event says something about the end of the answer."""
    kind = payload.get("type", "")
    ends = kind in ("response.completed", "response.failed", "response.incomplete", "message_stop", "error")
    choices = payload.get("choices") or []
    return ends or "error" in payload or any(choice.get("finish_reason") for choice in choices)


@each(SMALL)
def test_unknown_events_and_fields_change_nothing(protocol: str, path: Path) -> None:
    payloads = payloads_in(path)
    noise = [{"type": "later"}, {"object": "ping", "choices": [{"index": 0, "delta": {"mood": "calm", "content": ""}}]}]
    if protocol == "anthropic-messages":
        noise.append({"type": "ping"})
    noisy = [item for payload in payloads for item in (*noise, {**payload, "obfuscation": "x"})]

    assert folded(protocol, noisy) == folded(protocol, payloads)


@each(ALL)
def test_the_message_only_grows(protocol: str, path: Path) -> None:
    message, fold = new_message(), Fold()
    for chunk in chunks_of(protocol, payloads_in(path)):
        before, message = message, fold.apply(message, chunk)
        grown = [(old, new) for old, new in zip(before.content, message.content, strict=False) if old is not new]
        assert len(grown) <= 1
        assert len(message.content) >= len(before.content)
        for old, new in grown if not getattr(chunk, "replaces", False) else ():
            assert getattr(new, "text", "").startswith(getattr(old, "text", ""))
            assert getattr(new, "args_text", "").startswith(getattr(old, "args_text", ""))


@each(OWN)
def test_a_recording_with_a_missing_or_another_event_is_found_out(protocol: str, path: Path) -> None:
    facts = ORACLES[protocol](events_of(path))
    payloads = payloads_in(path)

    assert list(differences(folded(protocol, payloads), facts)) == []
    for at, payload in enumerate(payloads):
        if _says_something(payload):
            changed = copy.deepcopy(payloads)
            changed[at] = _falsified(payload)
            assert list(differences(folded(protocol, changed), facts)), payload


def _says_something(payload: dict[str, Any]) -> bool:
    if "choices" in payload:
        return any(choice["delta"].get("content") or choice["delta"].get("tool_calls") for choice in payload["choices"])
    delta = payload.get("delta")
    if isinstance(delta, dict):
        return any(delta.get(key) for key in ("text", "thinking", "partial_json", "stop_reason"))
    return payload.get("type") in ("response.completed", "content_block_stop")


def _falsified(payload: dict[str, Any]) -> dict[str, Any]:
    """Leave the event out; one that would not be missed becomes an error."""
    if payload.get("type") == "content_block_stop":
        return {"type": "error", "error": {"type": "x", "message": "x"}}
    return {"type": "ping"}


def test_bytes_cut_at_random_places_give_the_same_answer_with_each_line_end() -> None:
    rng = random.Random(7)
    for _, path in OWN:
        if path.suffix != ".sse":
            continue
        data = path.read_bytes()
        whole = payloads_of([data])
        for text in (data, data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\r")):
            for _ in range(50):
                places = sorted(rng.sample(range(len(text)), 5))
                pieces = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
                assert payloads_of(pieces) == whole


@pytest.mark.anyio
async def test_the_table_shows_parts_and_statuses() -> None:
    played = [await play(protocol, path) for protocol, path in OWN if protocol == "anthropic-messages"]

    assert [_table.row(path.name, one) for (_, path), one in zip(OWN, played, strict=False)] == [
        ("anthropic-cut.sse", "27", "1 reasoning, 1 tool-call, 1 text, 1 source", "incomplete/other", "1", "0", "0"),
        (
            "anthropic-look.sse",
            "37",
            "1 reasoning, 3 tool-call, 1 text, 1 source",
            "requires-action/tool-calls",
            "1",
            "0",
            "0",
        ),
        ("anthropic-overloaded.sse", "4", "1 text", "incomplete/error", "1", "0", "0"),
    ]
    assert _table.summary("anthropic-messages", played).endswith("0 with a loss")


def test_the_index_counts_what_the_facts_say(recordings: Path) -> None:
    index = json.loads((recordings / "index.json").read_text(encoding="utf-8"))["files"]
    for entry in index:
        oracle = ORACLES.get(entry["protocol"])
        if oracle is None:
            continue
        facts, sums = oracle(events_of(recordings / entry["file"])), entry["sums"]
        text = (
            sums["text_done_chars"] if "text_done_chars" in sums else sums["text_chars"] + sums.get("refusal_chars", 0)
        )
        if entry["file"].endswith("three-choices.sse"):
            text = 53  # of the first choice
        assert (len(facts.text), len(facts.reasoning)) == (text, sums.get("reasoning_chars", 0)), entry["file"]
        if entry["protocol"] != "openai-responses":
            calls = [(call["name"], call["args_chars"]) for call in sums.get("tool_calls", [])]
            assert [(name, len(arguments)) for name, arguments in facts.calls][: len(calls)] == calls, entry["file"]
