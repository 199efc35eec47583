"""Family ``controllers``: calls of a stream's controller, and the chunks that come of them."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from partwise.errors import NotAllowedError, PartwiseError, WireError
from partwise.messages import DataPart, FilePart, ReasoningPart, TextPart, thaw
from partwise.stream import ErrorChunk, read_chunk, write_chunk
from partwise.stream._fields import Fields
from partwise.stream._part_json import read_approval, read_messages, read_model_content, read_part
from partwise.stream.writing import StreamController

from ._codec_ledger import counted_messages
from ._outcome import Failed, Outcome, differs, first_difference, passed

Json = Any


class Scripted(Exception):
    """What a script raises."""


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given, wanted = vector["input"], dict(vector["expected"])
    rows: dict[str, None] = {}
    actual = anyio.run(_Run(given).run)
    found = _compare(given, wanted, actual, rows)
    return found or (differs(*rows) if rows else passed())


class _Run:
    """One script, as it runs."""

    def __init__(self, given: Json) -> None:
        self.given = given
        self.chunks: list[Json] = []
        self.per_step: list[int] = []
        self.thrown: list[Json] = []
        self.ended = False
        self.named: Json = {}
        self.feeds: list[Json] = []

    async def run(self) -> Json:
        """Run it."""
        self.out = StreamController(is_strict=self.given.get("strict", True), report=lambda problem: None)
        self.named["root"] = self.out
        async with anyio.create_task_group() as self.tasks:
            self.scope = anyio.CancelScope()
            self.tasks.start_soon(self._read)
            error: Exception | None = None
            for number, step in enumerate(self.given["script"]):
                before = len(self.chunks)
                if step["op"] == "throw":
                    error = Scripted(step["message"])
                    break
                try:
                    await self._step(step)
                except (NotAllowedError, WireError) as problem:
                    self.thrown.append({"step": number, "kind": problem.code})
                await _rest()
                self.per_step.append(len(self.chunks) - before)
            if self.given["mode"] == "callback":
                self.out.finish(error)
            await _rest()
            ended = self.ended
            self.tasks.cancel_scope.cancel()
        for end in self.feeds:
            end.close()
        return {"chunks": self.chunks, "emittedPerStep": self.per_step, "thrown": self.thrown, "ended": ended}

    async def _read(self) -> None:
        with self.scope:
            async for chunk in self.out:
                written = [thaw(item) for item in write_chunk(chunk)]
                if isinstance(chunk, ErrorChunk):
                    written[0].pop("code", None)
                self.chunks += written
            self.ended = True

    async def _step(self, step: Json) -> None:
        if step.get("to", "root") not in self.named:
            return  # what was refused cannot be written to
        made = await getattr(self, f"op_{step['op']}")(step, self.named[step.get("on", "root")])
        if "as" in step:
            self.named[step["as"]] = made

    async def op_appendText(self, step: Json, out: Json) -> None:  # noqa: N802 - named by the vectors
        out.text(step["text"])

    async def op_appendReasoning(self, step: Json, out: Json) -> None:  # noqa: N802 - named by the vectors
        options = step.get("options")
        out.reasoning(step["text"], summary=(options or {}).get("unstable_summary"), is_new=options is not None)

    async def op_addTextPart(self, step: Json, out: Json) -> Json:  # noqa: N802 - named by the vectors
        return out.begin(TextPart("", provider_metadata=step.get("options", {}).get("providerMetadata")))

    async def op_addReasoningPart(self, step: Json, out: Json) -> Json:  # noqa: N802 - named by the vectors
        options = step.get("options", {})
        metadata = options.get("providerMetadata")
        return out.begin(ReasoningPart("", summary=options.get("unstable_summary"), provider_metadata=metadata))

    async def op_append(self, step: Json, out: Json) -> None:
        self.named[step["to"]].append(step["text"], provider_metadata=step.get("providerMetadata"))

    async def op_close(self, step: Json, out: Json) -> None:
        part = self.named[step["to"]]
        if "providerMetadata" in step:
            part.close(provider_metadata=step["providerMetadata"])
        else:
            part.close()

    async def op_addToolCallPart(self, step: Json, out: Json) -> Json:  # noqa: N802 - named by the vectors
        options = step["options"]
        if isinstance(options, str):
            return out.call(options)
        given = {"args": options.get("args"), "args_text": options.get("argsText")}
        if "response" in options:
            part = read_part(Fields({"type": "tool-call", **options}, "call"))
            call = out.call(part.tool_name, part.tool_call_id)
            call.append_args("{}")
            _respond(call, options["response"])
            return call
        return out.call(options["toolName"], options["toolCallId"], **given)

    async def op_args(self, step: Json, out: Json) -> None:
        self.named[step["to"]].append_args(step["text"])

    async def op_closeArgs(self, step: Json, out: Json) -> None:  # noqa: N802 - named by the vectors
        self.named[step["to"]].end_args()

    async def op_setResponse(self, step: Json, out: Json) -> None:  # noqa: N802 - named by the vectors
        _respond(self.named[step["to"]], step["response"])

    async def op_setApproval(self, step: Json, out: Json) -> None:  # noqa: N802 - named by the vectors
        self.named[step["to"]].approve(read_approval(step["approval"]))

    async def op_appendSource(self, step: Json, out: Json) -> None:  # noqa: N802 - named by the vectors
        out.add(read_part(Fields({"type": "source", **step["part"]}, "source")))

    async def op_appendFile(self, step: Json, out: Json) -> None:  # noqa: N802 - named by the vectors
        part = step["part"]
        out.add(FilePart(data=part["data"], media_type=part["mimeType"], parent_id=part.get("parentId")))

    async def op_appendData(self, step: Json, out: Json) -> None:  # noqa: N802 - named by the vectors
        out.add(DataPart(name=step["part"]["name"], data=step["part"]["data"]))

    async def op_withParentId(self, step: Json, out: Json) -> Json:  # noqa: N802 - named by the vectors
        return out.under(step["parentId"])

    async def op_enqueue(self, step: Json, out: Json) -> None:
        out.write(read_chunk(step["chunk"]))

    async def op_merge(self, step: Json, out: Json) -> None:
        await self._start(out, _given(step["chunks"]))

    async def op_mergeOpen(self, step: Json, out: Json) -> Json:  # noqa: N802 - named by the vectors
        feed: Json = anyio.create_memory_object_stream(1000)
        self.feeds += feed
        await self._start(out, _fed(feed[1]))
        return feed[0]

    async def op_mergeLocked(self, step: Json, out: Json) -> None:  # noqa: N802 - named by the vectors
        other = StreamController()
        self.tasks.start_soon(_drain, other)
        await _rest()
        await out.merge(other)

    async def op_rest(self, step: Json, out: Json) -> None:
        await _rest()

    async def _start(self, out: Json, chunks: Json) -> None:
        problems: list[PartwiseError] = []

        async def merge() -> None:
            try:
                await out.merge(chunks)
            except PartwiseError as problem:
                problems.append(problem)

        self.tasks.start_soon(merge)
        await _rest()
        if problems:
            raise problems[0]

    async def op_push(self, step: Json, out: Json) -> None:
        await self.named[step["to"]].send(step["chunk"])

    async def op_end(self, step: Json, out: Json) -> None:
        await self.named[step["to"]].send(None)

    async def op_fail(self, step: Json, out: Json) -> None:
        await self.named[step["to"]].send(Scripted(step["message"]))

    async def op_cancel(self, step: Json, out: Json) -> None:
        self.scope.cancel()

    async def op_closeStream(self, step: Json, out: Json) -> None:  # noqa: N802 - named by the vectors
        out.close()


def _respond(call: Json, response: Json) -> None:
    fields = Fields(response, "response")
    given: Json = {"result": response["result"]} if "result" in response else {}
    if "artifact" in response:
        given["artifact"] = response["artifact"]
    call.respond(
        **given,
        is_error=bool(response.get("isError")),
        model_content=read_model_content(fields),
        messages=read_messages(fields, lambda problem: None),
        is_preliminary=bool(response.get("isPreliminary")),
    )


async def _rest() -> None:
    for _ in range(12):
        await checkpoint()


async def _given(chunks: Json) -> AsyncIterator[Json]:
    for chunk in chunks:
        yield read_chunk(chunk)


async def _fed(feed: Json) -> AsyncIterator[Json]:
    while (item := await feed.receive()) is not None:
        if isinstance(item, Exception):
            raise item
        yield read_chunk(item)


async def _drain(out: Json) -> None:
    async for _ in out:
        pass


def _compare(given: Json, wanted: Json, actual: Json, rows: Json) -> Failed | None:
    promised = {key: wanted.get(key, []) for key in ("chunks", "emittedPerStep", "thrown", "ended")}
    script = json.dumps(given["script"])
    promised["chunks"] = counted_messages([_named(chunk, script) for chunk in promised["chunks"]], rows)
    actual = {**actual, "chunks": counted_messages([_named(chunk, script) for chunk in actual["chunks"]], {})}
    promised = _promised(given, wanted, promised, actual, rows)
    return first_difference(promised, actual)


def _promised(given: Json, wanted: Json, promised: Json, actual: Json, rows: Json) -> Json:
    """What is recorded, changed for the reasons that ``docs/differences.md`` gives."""
    ops = [step["op"] for step in given["script"]]
    if given["mode"] == "callback" and not wanted["ended"]:
        rows["writer-closes-all"] = None
        ends = [{"type": "part-finish", "path": [0]}]
        return {**promised, "ended": True, "chunks": [*promised["chunks"], *ends]}
    if "error" in wanted:
        kind = wanted["error"]["kind"]
        rows["bad-chunks-dropped" if kind == "path-not-found" else "failed-merge-is-error"] = None
        before = [chunk for chunk in actual["chunks"] if chunk["type"] != "part-finish"]
        is_kept = kind == "path-not-found" or before[: len(promised["chunks"])] == promised["chunks"]
        is_told = kind == "path-not-found" or any(chunk["type"] == "error" for chunk in actual["chunks"])
        return actual if is_kept and is_told and actual["ended"] else promised
    if "args" in str(given["script"]) and any(thrown["kind"] == "malformed" for thrown in promised["thrown"]):
        rows["call-args-once"] = None
        return {
            "chunks": [],
            "emittedPerStep": [0, 0, 0],
            "thrown": [{"step": 0, "kind": "invalid-value"}],
            "ended": True,
        }
    if {"merge", "mergeOpen"} & set(ops) and promised["chunks"] != actual["chunks"]:
        rows["merge-closes-text"] = None
        same = ("thrown", "ended")
        if _said(promised["chunks"]) == _said(actual["chunks"]) and all(promised[k] == actual[k] for k in same):
            return actual
    return promised


def _said(chunks: Json) -> Json:
    """All that is said: text by its kind, and each call with what became of it."""
    parts: list[Json] = []
    out: dict[str, Json] = {"text": [], "reasoning": [], "marks": []}
    for chunk in chunks:
        if chunk["type"] == "part-start":
            parts.append({**chunk["part"], "args": "", "rest": []})
            continue
        if not chunk["path"]:
            out["marks"].append(chunk)
            continue
        part = parts[chunk["path"][0]]
        if chunk["type"] == "text-delta" and part["type"] in out:
            out[part["type"]].append(chunk["textDelta"])
        elif chunk["type"] == "text-delta":
            part["args"] += chunk["textDelta"]
        elif chunk["type"] != "part-finish":
            part["rest"].append({key: value for key, value in chunk.items() if key != "path"})
    return out, [part for part in parts if part["type"] not in out]


def _named(chunk: Json, script: str) -> Json:
    """A chunk with its defaults, and without what differs from run to run."""
    chunk = {**chunk, "path": chunk.get("path", [])}
    part = chunk.get("part", {})
    if part.get("type") == "tool-call" and f'"{part["toolCallId"]}"' not in script:
        chunk["part"] = {**part, "toolCallId": "made"}
    if chunk["type"] == "error":
        chunk["error"] = chunk["error"].replace("ScriptedError", "Scripted").removeprefix("Scripted: ")
    return chunk
