"""What a chunk says arrives at the other end of a wire, or is reported; nothing vanishes without a word."""

from __future__ import annotations

from typing import Any

import pytest

from partwise.errors import WireError
from partwise.messages import (
    Approval,
    DataPart,
    DocumentSourcePart,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    TextContent,
    UrlSourcePart,
    Usage,
)
from partwise.stream import (
    Accumulator,
    AppendText,
    Chunk,
    ErrorChunk,
    Finish,
    MetadataChunk,
    PartChunk,
    ReasoningDelta,
    SetValue,
    StateUpdate,
    StepFinish,
    StepStart,
    TextDelta,
    ToolApproval,
    ToolArgsDelta,
    ToolCallStart,
    ToolResult,
)
from partwise.stream.codecs import CODECS

CALL: list[Chunk] = [ToolCallStart("c", "t"), ToolArgsDelta("c", "{}")]
SAYINGS: dict[str, list[Chunk]] = {
    "text": [TextDelta("a"), TextDelta("b")],
    "text below a part": [*CALL, TextDelta("a", parent_id="c")],
    "reasoning": [ReasoningDelta("hm")],
    "a result": [*CALL, ToolResult("c", {"a": [None]})],
    "a failed result": [*CALL, ToolResult("c", "gone", is_error=True)],
    "what the UI gets beside a result": [*CALL, ToolResult("c", 1, artifact={"a": 1})],
    "what the model reads": [*CALL, ToolResult("c", 1, model_content=[TextContent("one")])],
    "how far a tool is": [*CALL, ToolResult("c", 1, is_preliminary=True)],
    "an open approval": [*CALL, ToolApproval("c", Approval(id="p"))],
    "a decided approval": [*CALL, ToolApproval("c", Approval(id="p", approved=True, reason="yes"))],
    "an open approval with more": [*CALL, ToolApproval("c", Approval(id="p", extra={"prompt": "May I?"}))],
    "a source": [PartChunk(UrlSourcePart(id="s", url="https://example.org/", title="S"))],
    "a document": [PartChunk(DocumentSourcePart(id="d", title="D", media_type="a/b", filename="f"))],
    "a file": [PartChunk(FilePart(data="data:a/b;base64,aGk=", media_type="a/b", filename="f"))],
    "an image": [PartChunk(ImagePart(image="https://example.org/a.png", filename="a.png"))],
    "data": [PartChunk(DataPart(name="n", data=[1]))],
    "data with an id": [PartChunk(DataPart(name="n", data=1, id="i")), PartChunk(DataPart(name="n", data=2, id="i"))],
    "a UI": [PartChunk(GenerativeUIPart(spec={"root": "x"}))],
    "a part below a part": [*CALL, PartChunk(DataPart(name="n", data=[1], parent_id="c"))],
    "custom metadata": [MetadataChunk(custom={"a": 1})],
    "annotations": [MetadataChunk(annotations=[{"a": 1}])],
    "data of the message": [MetadataChunk(data=[1])],
    "the state as a whole": [MetadataChunk(state={"a": 1})],
    "changes of state": [StateUpdate([SetValue((), {"a": ""}), SetValue(["b"], [1]), AppendText(["a"], "x")])],
    "a step": [StepStart("m"), StepFinish(Usage(input_tokens=1, output_tokens=2), reason="stop", is_continued=False)],
    "a warning": [ErrorChunk({"code": "slow", "message": "slow", "severity": "warning"})],
    "an error": [ErrorChunk({"code": "gone", "message": "gone"})],
    "no more room": [Finish("length")],
    "the filter": [Finish("content-filter")],
    "a cancel": [Finish("cancelled")],
    "a question to a human": [*CALL, Finish("interrupt")],
}
# These arrive as a part of another kind, with all that they hold.
OTHER_KINDS = {"an image": "file", "a UI": "data"}


def folded(chunks: list[Chunk]) -> Any:
    accumulator = Accumulator(report=lambda problem: None)
    for chunk in chunks:
        accumulator.apply(chunk)
    message = accumulator.finish()
    names = ("text", "tool_call_id", "args", "result", "preliminary", "artifact", "model_content", "approval", "data")
    names += ("name", "id", "url", "title", "filename", "spec", "image", "parent_id", "is_error")
    parts = [(part.type, {name: getattr(part, name, None) for name in names}) for part in message.content]
    for _, fields in parts:
        fields["is_error"] = bool(fields["is_error"])
    status = (message.status.type, getattr(message.status, "reason", None))
    error = getattr(message.status, "error", None)
    costs = [step.usage for step in message.metadata.steps if step.usage is not None]
    metadata = message.metadata
    return (
        parts,
        status,
        None if error is None else error["message"],
        costs,
        metadata.state,
        metadata.annotations,
        metadata.data,
        metadata.custom,
    )


@pytest.mark.parametrize("saying", SAYINGS)
@pytest.mark.parametrize("name", [name for name in CODECS if name != "plain-text"])
def test_what_is_said_arrives_or_is_reported(name: str, saying: str) -> None:
    reports: list[WireError] = []
    makes: Any = CODECS[name]
    encoder, decoder = makes.encoder(report=reports.append), makes.decoder(report=reports.append)
    last = SAYINGS[saying][-1]
    chunks = [*SAYINGS[saying], *([] if isinstance(last, Finish) else [Finish("stop")])]

    data = b"".join(encoder.encode(chunk) for chunk in chunks) + encoder.close()
    arrived = folded([*decoder.feed(data), *decoder.close()])

    wanted = folded(chunks)
    if not reports and saying in OTHER_KINDS and arrived != wanted:
        ((kind, fields),), ((_, sent),) = arrived[0], wanted[0]
        assert kind == OTHER_KINDS[saying]
        assert (fields["data"], fields["filename"]) == (sent["image"] or sent["spec"], sent["filename"])
        assert arrived[1:] == wanted[1:]
    elif not reports:
        assert arrived == wanted
