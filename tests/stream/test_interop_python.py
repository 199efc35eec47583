"""partwise reads what the published Python package writes, run by run, as its web server sends it.

That package has no reader; what it writes is what the npm package reads, which `test_interop` holds partwise to.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio.lowlevel
import pytest
from assistant_stream import RunController, create_run
from assistant_stream.serialization import AssistantTransportResponse, DataStreamResponse

from partwise.errors import WireError
from partwise.messages import FilePart, ReasoningPart, TextPart, ToolCallPart, UrlSourcePart
from partwise.stream import Accumulator, Chunk
from partwise.stream.codecs import CODECS, decode

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

RESPONSES = {"data-stream": DataStreamResponse, "assistant-transport": AssistantTransportResponse}
WIRES = sorted(RESPONSES)


async def rest() -> None:
    """Let the package write what it holds, so that parts come in the order of their calls."""
    for _ in range(5):
        await anyio.lowlevel.checkpoint()


async def sent(wire: str, callback: Any, *, state: Any = None, size: int = 5) -> AsyncIterator[bytes]:
    """What a client of the package's own response gets, cut into small pieces."""
    bodies: list[bytes] = []

    async def send(message: Any) -> None:
        bodies.append(message.get("body", b""))

    async def receive() -> Any:
        await anyio.sleep_forever()

    response = RESPONSES[wire](create_run(callback, state=state))
    with contextlib.suppress(RuntimeError):  # what the callback raised; the client has been told
        await response({"type": "http", "asgi": {"spec_version": "2.4"}}, receive, send)
    data = b"".join(bodies)
    for at in range(0, len(data), size):
        yield data[at : at + size]


async def read(wire: str, callback: Any, **given: Any) -> tuple[Any, list[WireError]]:
    reports: list[WireError] = []
    decoder: Any = CODECS[wire].decoder
    accumulator = Accumulator(report=reports.append)
    chunks: AsyncIterator[Chunk] = decode(sent(wire, callback, **given), decoder(report=reports.append))
    async for chunk in chunks:
        accumulator.apply(chunk)
    return accumulator.finish(), reports


async def whole_run(run: RunController) -> None:
    run.add_step_start("m1")
    run.append_reasoning("Let me ")
    run.append_reasoning("think.")
    run.append_text("A star: 🙂 ")
    run.append_text("日本語")
    await rest()
    call = await run.add_tool_call("search", "c1")
    await rest()
    call.append_args_text('{"q":')
    call.append_args_text('"sun"}')
    call.set_response({"hits": [1, None]}, artifact={"a": 1})
    await rest()
    failing = await run.add_tool_call("search", "c2")
    failing.set_response("gone", is_error=True)
    await rest()
    left = await run.add_tool_call("ask", "c3")
    await rest()
    left.append_args_text("{}")
    await rest()
    run.with_parent_id("c1").append_text("beside")
    run.add_source("s", "https://example.org/", "S")
    run.add_file("aGk=", "image/png")
    run.add_data({"d": 1})
    run.add_annotations([{"k": 1}])
    run.state = {"user": {"name": "A"}, "log": []}
    run.state["user"]["name"] = "B"
    run.append_state_text(["user", "name"], "ob")
    run.state["log"].append("x")
    run.add_step_finish("tool-calls", 3, 4)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_whole_run_arrives(wire: str) -> None:
    message, reports = await read(wire, whole_run)

    calls = {part.tool_call_id: part for part in message.content if isinstance(part, ToolCallPart)}
    written = [(part.text, part.parent_id) for part in message.content if isinstance(part, (TextPart, ReasoningPart))]
    assert written == [("Let me think.", None), ("A star: 🙂 日本語", None), ("beside", "c1")]
    assert [call.tool_name for call in calls.values()] == ["search", "search", "ask"]
    assert (calls["c1"].args, calls["c1"].result, calls["c1"].artifact) == (
        {"q": "sun"},
        {"hits": [1, None]},
        {"a": 1},
    )
    assert (calls["c2"].args, calls["c2"].result, calls["c2"].is_error) == ({}, "gone", True)
    assert (calls["c3"].args, calls["c3"].has_result) == ({}, False)
    assert [(part.id, part.url, part.title) for part in message.content if isinstance(part, UrlSourcePart)] == [
        ("s", "https://example.org/", "S")
    ]
    assert [(part.data, part.media_type) for part in message.content if isinstance(part, FilePart)] == [
        ("aGk=", "image/png")
    ]
    assert (list(message.metadata.data), list(message.metadata.annotations)) == ([{"d": 1}], [{"k": 1}])
    assert message.metadata.state == {"user": {"name": "Bob"}, "log": ["x"]}
    (step,) = message.metadata.steps
    assert (step.message_id, step.usage.input_tokens, step.usage.output_tokens) == ("m1", 3, 4)
    assert (message.status.type, message.status.reason) == ("requires-action", "tool-calls")
    assert not [report for report in reports if report.code != "missing-done"]


@pytest.mark.parametrize("size", [1, 7, 1_000_000])
@pytest.mark.parametrize("wire", WIRES)
async def test_the_message_does_not_depend_on_the_pieces(wire: str, size: int) -> None:
    message, _ = await read(wire, whole_run, size=size)
    whole, _ = await read(wire, whole_run)

    assert message.content == whole.content


@pytest.mark.parametrize("wire", WIRES)
async def test_what_is_raised_there_is_an_error_here_that_keeps_what_had_come(wire: str) -> None:
    async def failing(run: RunController) -> None:
        run.append_text("so far")
        await rest()
        raise RuntimeError("boom")

    message, _ = await read(wire, failing)

    (part,) = message.content
    assert part.text == "so far"
    assert (message.status.type, message.status.reason) == ("incomplete", "error")
    assert message.status.error["message"] == "boom"
