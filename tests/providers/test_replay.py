from __future__ import annotations

from pathlib import Path

import pytest

from partwise.errors import InvalidInputError, WireError
from partwise.providers.replay import PROTOCOLS, Protocol, Recording, read_recording, replay

PAYLOAD = b'{"choices": [{"index": 0, "delta": {"content": "x"}}]}'


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_raw_body_is_cut_after_each_event_and_nothing_is_changed(tmp_path: Path, end: bytes) -> None:
    file = tmp_path / "a.sse"
    events = [b": hello" + end * 2, b"data: " + PAYLOAD + end * 2, b"event: x" + end + b"data: [DONE]" + end * 3]
    file.write_bytes(b"".join(events) + b"data: " + PAYLOAD)

    assert read_recording(file).pieces == (*events, b"data: " + PAYLOAD)
    assert b"".join(read_recording(str(file)).pieces) == file.read_bytes()


def test_payload_lines_become_events(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(PAYLOAD + b"\n\n " + PAYLOAD + b"\r\n")

    assert read_recording(file) == Recording("openai-chat", (b"data: " + PAYLOAD + b"\n\n",) * 2)


@pytest.mark.parametrize(
    ("name", "data", "where", "why"),
    [
        ("a.jsonl", PAYLOAD + b'\n\n{"choices"\n', "a.jsonl:3", "is no JSON"),
        ("a.jsonl", PAYLOAD + b"\n[1]\n", "a.jsonl:2", "no JSON object"),
        (
            "a.jsonl",
            b'{"type": "RUN_STARTED"}\n',
            "a.jsonl:1",
            "none of Chat Completions, Responses, Anthropic Messages",
        ),
        ("a.jsonl", PAYLOAD + b'\n{"id": 1}\n', "a.jsonl:2", "none of Chat Completions\\."),
        ("a.jsonl", PAYLOAD + b'\n{"type": "response.created"}\n', "a.jsonl:2", "Responses at .* speaks Chat"),
        ("a.jsonl", b'{"type": "ping"}\n{"type": "response.created"}\n', "a.jsonl:2", "speaks Anthropic"),
        ("a.jsonl", b"\xff\xfe\n", "a.jsonl:1", "is no JSON"),
        ("a.jsonl", b"\n \n", "a.jsonl", "holds no event"),
        ("a.sse", b"data: " + PAYLOAD + b"\n\n: x\n\ndata: {\n\n", "a.sse:5", "is no JSON"),
        ("a.sse", b'event: x\ndata: {"type": "start"}\n\n', "a.sse:2", "none of Chat Completions"),
        ("a.sse", b": nothing\n\ndata: [DONE]\n\n", "a.sse", "holds no event"),
        ("a.sse", b'data: {"error": {}}\n\n', "a.sse", "holds no event"),
        ("a.sse", b"", "a.sse", "holds no event"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_its_name_and_line(
    tmp_path: Path, name: str, data: bytes, where: str, why: str
) -> None:
    (tmp_path / name).write_bytes(data)

    with pytest.raises(WireError, match=why) as raised:
        replay(tmp_path / name)
    assert raised.value.where == str(tmp_path / where)
    assert name in str(raised.value)


def test_a_missing_file_and_a_folder_are_refused_by_name(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.sse", tmp_path):
        with pytest.raises(WireError, match="cannot be read") as raised:
            replay(path)
        assert raised.value.where == str(path)


@pytest.mark.parametrize("speed", [0, -1, float("nan")])
def test_a_speed_must_be_above_zero(tmp_path: Path, speed: float) -> None:
    with pytest.raises(InvalidInputError, match="events per second"):
        replay(tmp_path / "a.sse", speed=speed)


@pytest.mark.parametrize(
    ("payload", "protocol"),
    [
        (b'{"object": "chat.completion.chunk", "choices": []}', "openai-chat"),
        (b'{"type": "response.queued"}', "openai-responses"),
        (b'{"type": "content_block_stop", "index": 0}', "anthropic-messages"),
        (b'{"error": {"message": "m"}}', "openai-chat"),
    ],
)
def test_the_protocol_is_told_by_the_payloads(tmp_path: Path, payload: bytes, protocol: Protocol) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"type": "error", "error": {}}\n' + payload + b"\n")

    assert read_recording(file).protocol == protocol
    assert read_recording(file, protocol) == read_recording(file)
    for other in PROTOCOLS:
        if other != protocol and b"error" not in payload:
            with pytest.raises(WireError, match=f"but speaks {PROTOCOLS[other]}"):
                replay(file, other)


def test_payload_lines_with_a_type_become_named_events(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"type":"message_stop"}\n{"type":"of_tomorrow"}\n')

    assert read_recording(file).pieces == (
        b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
        b'event: of_tomorrow\ndata: {"type":"of_tomorrow"}\n\n',
    )
