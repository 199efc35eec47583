"""Family ``tool_stream``: tools that run while an answer streams, and readers of the calls."""

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from partwise.errors import PartwiseError, WireError
from partwise.messages import MISSING, AssistantMessage, ToolCallPart, thaw
from partwise.stream import ErrorChunk, read_chunk, write_chunk
from partwise.stream._fields import Fields
from partwise.stream._part_json import read_approval, read_messages, read_model_content, write_model_content
from partwise.tools import Tool, ToolContext, ToolResponse, run_open_calls, tool_stream

from ._outcome import Outcome, differs, first_difference, passed
from ._tool_ledger import Promise, promised_pending

Json = Any


class Scripted(Exception):
    """What a script raises."""


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given, wanted = vector["input"], vector["expected"]
    rows: dict[str, None] = {}
    if given["op"] == "script":
        actual = anyio.run(_Script(given).run)
        found = Promise(given, wanted, actual, rows).difference()
    else:
        actual = anyio.run(_Script(given).run_pending)
        found = first_difference(promised_pending(given, wanted, actual, rows), actual)
    return found or (differs(*rows) if rows else passed())


class _Script:
    """One script, as it runs."""

    def __init__(self, given: Json) -> None:
        self.given = given
        self.events: list[Json] = []
        self.emitted: list[Json] = []
        self.gates: dict[str, Json] = {}
        self.humans: dict[str, Json] = {}
        self.readers: dict[str, Json] = {}
        self.reads: dict[str, anyio.CancelScope] = {}
        self.ended = False
        self.count = 0

    # ------------------------------------------------------------ scripts

    async def run(self) -> Json:
        """Run the steps, and return what came of each."""
        send, receive = anyio.create_memory_object_stream[Json](1000)
        self.tools = {name: self._tool(name, spec) for name, spec in (self.given["tools"] or {}).items()}
        steps: list[Json] = []
        options: Json = {}
        if self.given.get("callbacks", True):
            options = {
                "on_start": lambda call: self._told("start", call),
                "on_end": lambda call: self._told("end", call),
            }
        async with (
            anyio.create_task_group() as self.tasks,
            tool_stream(
                _fed(receive), self.tools, ask_human=self._ask, report=lambda problem: None, **options
            ) as stream,
        ):
            self.stream = stream
            self.reading = anyio.CancelScope()
            self.tasks.start_soon(self._read)
            for step in self.given["steps"]:
                self.emitted, self.events = [], []
                await self._step(step, send)
                await _rest()
                steps.append({"emitted": self.emitted, "events": self.events})
            self.events = []
            self.tasks.cancel_scope.cancel()
        for end in (send, receive):
            end.close()
        return {"steps": steps, "ended": self.ended}

    async def _read(self) -> None:
        with self.reading:
            async for chunk in self.stream:
                written = [thaw(item) for item in write_chunk(chunk)]
                if isinstance(chunk, ErrorChunk):
                    written[0].pop("code", None)
                self.emitted += written
            self.ended = True

    async def _step(self, step: Json, send: Json) -> None:
        match step:
            case {"chunk": chunk}:
                with suppress(WireError):
                    await send.send(read_chunk(chunk))
            case {"fail": message}:
                await send.send(Scripted(message))
            case {"end": _}:
                await send.send(None)
            case _:
                self._act(step)

    def _act(self, step: Json) -> None:
        match step:
            case {"resolve": gate}:
                self._gate(gate)["value"] = step.get("value")
                self._gate(gate)["event"].set()
            case {"reject": gate}:
                self._gate(gate)["error"] = Scripted(step["message"])
                self._gate(gate)["event"].set()
            case {"answer": call} if call in self.humans:
                self.humans[call]["value"] = step["value"]
                self.humans[call]["event"].set()
            case {"refuse": call} if call in self.humans:
                self.humans[call]["error"] = Scripted(step["message"])
                self.humans[call]["event"].set()
            case {"answer": _} | {"refuse": _}:
                pass  # nobody asks
            case {"abort": _}:
                self.stream.abort()
            case {"read": read}:
                self._start_read(self.readers[read["call"]], read, self.tasks)
            case {"cancelRead": name}:
                self.reads[name].cancel()
            case {"cancel": _}:
                self.reading.cancel()
            case unknown:
                raise ValueError(f"unknown step {unknown!r}")

    def _told(self, what: str, call: ToolCallPart) -> None:
        self.events.append({what: [call.tool_call_id, call.tool_name]})
        if self.given.get("callbacks") == "throw":
            raise Scripted("callback")

    def _gate(self, name: str) -> Json:
        return self.gates.setdefault(name, {"event": anyio.Event()})

    async def _ask(self, call_id: str, payload: Json) -> Json:
        self.events.append({"human": {"toolCallId": call_id, "payload": thaw(payload)}})
        asked = self.humans[call_id] = {"event": anyio.Event()}
        return await _settled(asked)

    # ------------------------------------------------------------ tools

    def _tool(self, name: str, spec: Json) -> Tool:
        kind = spec.get("type", "frontend")
        given: Json = {}
        if "execute" in spec:
            given["execute"] = self._execute(name, spec["execute"])
        parameters = spec.get("parameters", {})
        if parameters and "jsonSchema" not in parameters:
            given["validate"] = self._validator(parameters)
        if "onInvalid" in spec:
            given["on_invalid"] = self._on_invalid(name, spec["onInvalid"])
        if "toModelOutput" in spec:
            given["to_model_output"] = self._model_output(spec["toModelOutput"])
        if "streamCall" in spec:
            given["stream_call"] = self._stream_call(name, spec["streamCall"])
        return Tool(name=name, kind=kind, **given)

    def _execute(self, name: str, spec: Json) -> Json:
        async def execute(arguments: Json, context: ToolContext) -> Json:
            told = {"tool": name, "toolCallId": context.tool_call_id, "args": dict(arguments), "aborted": False}
            self.events.append({"execute": told})
            return await self._outcome(spec, arguments, context)

        return execute

    async def _outcome(self, spec: Json, arguments: Json, context: ToolContext) -> Json:
        match spec:
            case {"returnSync": value}:
                return value
            case {"echo": _}:
                return arguments
            case {"throw": message} | {"throwSync": message}:
                raise Scripted(message)
            case {"respond": response}:
                return _response(response)
            case {"await": gate}:
                value = await _settled(self._gate(gate))
                return spec.get("return", value)
            case {"human": payload}:
                answer = await context.human(payload)
                return {"answered": answer} if spec.get("wrap") else answer
            case {"untilAbort": value}:
                return await _until_cancelled(value)
            case {"return": value}:
                return value
            case _:
                return ToolResponse()

    def _validator(self, spec: Json) -> Json:
        def validate(arguments: Json) -> Json:
            self.events.append({"validate": thaw(arguments)})
            if "throw" in spec:
                raise Scripted(spec["throw"])
            if any(name not in arguments for name in spec.get("require", [])) or "issues" in spec:
                raise ValueError("arguments failed validation")
            return spec.get("replace", thaw(arguments))

        return validate

    def _on_invalid(self, name: str, spec: Json) -> Json:
        async def on_invalid(arguments: Json, context: ToolContext) -> Json:
            told = {"tool": name, "toolCallId": context.tool_call_id, "args": dict(arguments)}
            self.events.append({"onInvalid": told})
            return await self._outcome(spec, arguments, context)

        return on_invalid

    def _model_output(self, spec: Json) -> Json:
        def to_model_output(result: Json) -> Json:
            self.events.append({"toModelOutput": {"output": thaw(result)}})
            if "throw" in spec:
                raise Scripted(spec["throw"])
            return read_model_content(Fields({"modelContent": spec["return"]}, "content"))

        return to_model_output

    def _stream_call(self, name: str, spec: Json) -> Json:
        async def stream_call(reader: Json, context: ToolContext) -> None:
            self.events.append({"streamCall": {"tool": name, "toolCallId": context.tool_call_id}})
            self.readers[context.tool_call_id] = reader
            if "throw" in spec or "throwSync" in spec:
                raise Scripted("boom")
            async with anyio.create_task_group() as reads:
                for read in spec.get("reads", []):
                    self._start_read(reader, read, reads)

        return stream_call

    # ------------------------------------------------------------ reads

    def _start_read(self, reader: Json, read: Json, tasks: Json) -> None:
        self.count += 1
        name = read.get("id", f"r{self.count}")
        tasks.start_soon(self._read_of, reader, read, name)

    async def _read_of(self, reader: Json, read: Json, name: str) -> None:
        with anyio.CancelScope() as scope:
            self.reads[name] = scope
            try:
                await self._reading(reader, read, name)
            except PartwiseError:
                return
        if scope.cancelled_caught:
            self.events.append({"read": name, "done": True})

    async def _reading(self, reader: Json, read: Json, name: str) -> None:
        match read:
            case {"get": path}:
                value = await reader.get(*path)
                self.events.append({"read": name, "value": "@absent" if value is MISSING else thaw(value)})
            case {"response": _}:
                self.events.append({"read": name, "value": _shown(await reader.response())})
            case {"result": _}:
                self.events.append({"read": name, "value": thaw((await reader.response()).result)})
            case {"streamText": path}:
                await self._each(reader.stream_text(*path), name)
            case {"streamValues": path}:
                await self._each(reader.stream_values(*path), name)
            case {"forEach": path}:
                await self._each(reader.for_each(*path), name)
            case unknown:
                raise ValueError(f"unknown read {unknown!r}")

    async def _each(self, values: Json, name: str) -> None:
        async for value in values:
            self.events.append({"read": name, "value": thaw(value)})
        self.events.append({"read": name, "done": True})

    # ------------------------------------------------------------ open calls

    async def run_pending(self) -> Json:
        """Run the open calls of a message."""
        given = self.given
        tools = {name: self._tool(name, spec) for name, spec in (given["tools"] or {}).items()}
        message = AssistantMessage(
            id="m",
            created_at=datetime(2024, 1, 1, tzinfo=UTC),
            content=tuple(_part(part) for part in given["message"]["parts"] if part["type"] == "tool-call"),
        )
        out: Json = {}

        async def answer() -> None:
            out["message"] = await run_open_calls(message, tools, ask_human=self._ask, report=lambda problem: None)

        async with anyio.create_task_group() as tasks:
            running = anyio.CancelScope()

            async def within() -> None:
                with running:
                    await answer()

            tasks.start_soon(within)
            await _rest()
            for step in given.get("steps") or []:
                if "abort" in step:
                    running.cancel()
                elif "resolve" in step:
                    self._gate(step["resolve"])["value"] = step.get("value")
                    self._gate(step["resolve"])["event"].set()
                else:
                    self.humans[step["answer"]]["value"] = step["value"]
                    self.humans[step["answer"]]["event"].set()
                await _rest()
            if "message" not in out:
                tasks.cancel_scope.cancel()
        shown: Json = {"events": [event for event in self.events if "validate" not in event]}
        if "message" not in out:
            return {**shown, "pending": True}
        calls = [part for part in out["message"].content if isinstance(part, ToolCallPart)]
        results = [{"id": call.tool_call_id, **_result_of(call)} for call in calls]
        return {**shown, "calls": results, "sameObject": out["message"] is message}


def _part(part: Json) -> Json:
    result = part.get("result", MISSING)
    approval = read_approval(part["approval"]) if "approval" in part else None
    return ToolCallPart(
        tool_call_id=part["toolCallId"],
        tool_name=part["toolName"],
        args=part["args"],
        args_text=part["argsText"],
        result=result,
        approval=approval,
    )


def _result_of(call: ToolCallPart) -> Json:
    if not call.has_result:
        return {}
    return {"result": thaw(call.result), **({} if call.is_error is None else {"isError": bool(call.is_error)})}


def _response(response: Json) -> ToolResponse:
    fields = Fields(response, "response")
    given: Json = {name: response[name] for name in ("result", "artifact") if name in response}
    return ToolResponse(
        **given,
        is_error=bool(response.get("isError")),
        model_content=read_model_content(fields),
        messages=read_messages(fields, lambda problem: None),
    )


def _shown(response: ToolResponse) -> Json:
    shown: Json = {"result": thaw(response.result), "isError": response.is_error}
    if response.artifact is not MISSING:
        shown["artifact"] = thaw(response.artifact)
    if response.model_content is not None:
        shown["modelContent"] = write_model_content(response.model_content)
    return shown


async def _until_cancelled(value: Json) -> Json:
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        if isinstance(value, dict) and "throw" in value:
            raise Scripted(value["throw"]) from None
        return value


async def _settled(gate: Json) -> Json:
    await gate["event"].wait()
    if "error" in gate:
        raise gate["error"]
    return gate.get("value")


async def _rest() -> None:
    for _ in range(25):
        await checkpoint()


async def _fed(receive: Json) -> AsyncIterator[Json]:
    while (item := await receive.receive()) is not None:
        if isinstance(item, Exception):
            raise item
        yield item
