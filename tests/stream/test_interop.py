"""The published npm package reads what partwise serves, and partwise reads what it writes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from partwise.messages import (
    Approval,
    DataPart,
    DocumentSourcePart,
    FilePart,
    TextContent,
    TextPart,
    UrlSourcePart,
    Usage,
)
from partwise.stream import (
    Accumulator,
    Chunk,
    Finish,
    MetadataChunk,
    SetValue,
    StateUpdate,
    StepFinish,
    StepStart,
    write_chunk,
)
from partwise.stream.codecs import CODECS, StreamResponse, decode
from partwise.stream.writing import StreamController, stream_of
from tests.conftest import NO_RECORDINGS

from .loopback import served

pytestmark = pytest.mark.anyio

NODE = Path(__file__).resolve().parents[1] / "node"
PROTOCOLS = ["data-stream", "assistant-transport", "ui-message-stream"]


@pytest.fixture(scope="session")
def node(find_program: Callable[[str, str], str]) -> str:
    """The program node, with the packages that it needs."""
    program = find_program("node", "nodejs npm")
    if not (NODE / "node_modules" / "assistant-stream").is_dir():
        pytest.skip("the npm packages are not installed: npm ci --prefix tests/node")
    return program


@pytest.fixture(scope="session")
def client(node: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of a client that reads a stream with the published decoders."""
    shared = Path(os.environ.get("PARTWISE_SHARED") or NODE.parents[2] / "shared")
    script = shared / "conformance" / "stream" / "client.mjs"
    if not script.is_file():
        pytest.skip(f"{NO_RECORDINGS}: {script} does not exist (PARTWISE_SHARED names its folder)")
    folder = tmp_path_factory.mktemp("client")
    shutil.copy(script, folder)
    (folder / "node_modules").symlink_to(NODE / "node_modules")
    return [node, str(folder / "client.mjs")]


async def whole_turn(out: StreamController) -> None:
    """Everything that the three wires can say."""
    out.write(StepStart("m1"))
    out.reasoning("Let me think. ", summary="a plan")
    out.text("It is a star: 🙂")
    out.add(UrlSourcePart(id="s", url="https://example.org/a", title="A"))
    out.add(DocumentSourcePart(id="d", title="Report", media_type="application/pdf", filename="r.pdf"))
    out.add(FilePart(data="data:image/png;base64,aGk=", media_type="image/png"))
    out.add(DataPart(name="chart", data={"x": [1, None]}))
    call = out.call("search", "c1")
    call.append_args('{"q":')
    call.append_args('"sun"}')
    call.end_args()
    call.respond({"hits": 0}, is_preliminary=True)
    call.respond({"hits": 1}, artifact={"a": 1}, model_content=[TextContent("one hit")])
    out.call("search", "c2", args={}).respond("gone", is_error=True)
    asked = out.call("delete", "c3", args={"path": "a"})
    asked.approve(Approval(id="ap"))
    side = out.begin(TextPart("", parent_id="c1"))
    side.append("beside")
    side.close()
    out.write(MetadataChunk(annotations=[{"k": 1}], data=["d"]))
    out.write(StateUpdate([SetValue((), {"n": 1})]))
    out.write(StepFinish(Usage(input_tokens=1, output_tokens=2), reason="tool-calls", is_continued=False))
    out.write(Finish("tool-calls", total_usage=Usage(input_tokens=1, output_tokens=2)))


async def written(write: Callable[[StreamController], Any]) -> list[Chunk]:
    async with stream_of(write) as chunks:
        return [chunk async for chunk in chunks]


def folded(chunks: list[Chunk]) -> Any:
    accumulator = Accumulator(report=lambda problem: None)
    for chunk in chunks:
        accumulator.apply(chunk)
    return accumulator.finish()


def kinds(message: Any) -> list[str]:
    return [part.type for part in message.content]


@pytest.mark.parametrize("options", [[], ["--recut", "1"]], ids=["whole", "byte by byte"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_npm_client_reads_every_frame(client: list[str], protocol: str, options: list[str]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await StreamResponse(whole_turn, CODECS[protocol].encoder())(scope, receive, send)

    async with served(app) as url:
        done = await anyio.run_process([*client, url, protocol, "--full", *options], check=False)

    assert done.returncode == 0, done.stderr.decode()
    shown = json.loads(done.stdout)
    message = shown["message"]
    assert shown["warnings"] == []
    assert message["status"] == {"type": "requires-action", "reason": "tool-calls"}
    texts = [part["text"] for part in message["parts"] if part["type"] in ("text", "reasoning")]
    assert texts == ["Let me think. ", "It is a star: 🙂", "beside"]
    calls = {part["toolCallId"]: part for part in message["parts"] if part["type"] == "tool-call"}
    assert (calls["c1"]["args"], calls["c1"]["result"]) == ({"q": "sun"}, {"hits": 1})
    assert (calls["c2"]["args"], calls["c2"]["result"], calls["c2"]["isError"]) == ({}, "gone", True)
    assert calls["c3"]["approval"]["id"] == "ap"
    assert [part["id"] for part in message["parts"] if part["type"] == "source"] == ["s", "d"]
    assert [part["data"] for part in message["parts"] if part["type"] == "file"] == ["data:image/png;base64,aGk="]


@pytest.mark.parametrize("protocol", ["data-stream", "assistant-transport"])
async def test_partwise_reads_what_the_npm_package_writes(node: str, protocol: str) -> None:
    chunks = await written(whole_turn)
    lines = [json.dumps(item, default=dict) for chunk in chunks for item in write_chunk(chunk)]  # type: ignore[arg-type]  # all have places
    command = [node, str(NODE / "write.mjs"), protocol]

    done = await anyio.run_process(command, input="\n".join(lines).encode(), stderr=subprocess.PIPE)

    async def pieces() -> Any:
        for at in range(0, len(done.stdout), 7):
            yield done.stdout[at : at + 7]

    received = [chunk async for chunk in decode(pieces(), CODECS[protocol].decoder())]
    sent, arrived = folded(chunks), folded(received)
    assert kinds(arrived) == kinds(sent)
    assert [getattr(part, "text", None) for part in arrived.content] == [
        getattr(part, "text", None) for part in sent.content
    ]
    for one, other in zip(arrived.content, sent.content, strict=True):
        if one.type == "tool-call":
            assert (one.args, one.result, one.approval, bool(one.is_error)) == (
                other.args,
                other.result,
                other.approval,
                bool(other.is_error),
            )
    assert arrived.status == sent.status
    assert arrived.metadata.state == sent.metadata.state
    assert arrived.metadata.annotations == sent.metadata.annotations
