"""What a server of each protocol sends for the same short answers, for tests that hold for all of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import attrs
import httpx2
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from partwise.providers.anthropic import AnthropicMessages
from partwise.providers.openai import OpenAIChat, OpenAIResponses


def event(payload: dict[str, Any]) -> bytes:
    name = f"event: {payload['type']}\n" if isinstance(payload.get("type"), str) else ""
    return f"{name}data: {json.dumps(payload)}\n\n".encode()


@attrs.frozen
class Spoken:
    """A protocol.

    Attributes:
        begin: The events before the first text.
        text: The event for a piece of text.
        call: The events for a whole call: id, name, arguments, and which of several it is.
        end: The events after the last; whether there were calls.
        error: The event for an error with a code and a message.
        results: The results of tools in the body of a request, by the ids of the calls.
        tools: The names of the tools in the body of a request.
    """

    name: str
    sdk: str
    path: str
    model: Callable[..., Any]
    client: Callable[..., Any]
    begin: tuple[bytes, ...]
    text: Callable[[str], bytes]
    call: Callable[..., tuple[bytes, ...]]
    end: Callable[[bool], tuple[bytes, ...]]
    error: Callable[[str, str], bytes]
    results: Callable[[Any], dict[str, str]]
    tools: Callable[[Any], list[str]]

    def answer(self, *texts: str) -> tuple[bytes, ...]:
        """Return the events of a whole answer."""
        return (*self.begin, *(self.text(text) for text in texts), *self.end(False))


def _choice(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return event({"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


CHAT = Spoken(
    name="openai-chat",
    sdk="openai",
    path="/chat/completions",
    model=OpenAIChat,
    client=AsyncOpenAI,
    begin=(),
    text=lambda text: _choice({"content": text}),
    call=lambda call_id, name, arguments, at=0: (
        _choice({"tool_calls": [{"index": at, "id": call_id, "function": {"name": name, "arguments": arguments}}]}),
    ),
    end=lambda calls: (_choice({}, "tool_calls" if calls else "stop"), b"data: [DONE]\n\n"),
    error=lambda code, message: event({"error": {"code": code, "message": message}}),
    results=lambda body: {one["tool_call_id"]: one["content"] for one in body["messages"] if one["role"] == "tool"},
    tools=lambda body: [tool["function"]["name"] for tool in body["tools"]],
)


def _responses_call(call_id: str, name: str, arguments: str, at: int = 0) -> tuple[bytes, ...]:
    item = {"type": "function_call", "id": f"fc{at}", "call_id": call_id, "name": name}
    return tuple(
        event({"type": f"response.output_item.{verb}", "output_index": 1 + at, "item": {**item, "arguments": text}})
        for verb, text in (("added", ""), ("done", arguments))
    )


RESPONSES = Spoken(
    name="openai-responses",
    sdk="openai",
    path="/responses",
    model=OpenAIResponses,
    client=AsyncOpenAI,
    begin=(event({"type": "response.created", "response": {"id": "r"}}),),
    text=lambda text: event(
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text}
    ),
    call=_responses_call,
    end=lambda _: (event({"type": "response.completed", "response": {"id": "r", "output": []}}),),
    error=lambda code, message: event({"type": "error", "code": code, "message": message}),
    results=lambda body: {
        one["call_id"]: one["output"] for one in body["input"] if one.get("type") == "function_call_output"
    },
    tools=lambda body: [tool["name"] for tool in body["tools"]],
)


def _message_start() -> tuple[bytes, ...]:
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": {}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    return (event({"type": "message_start", "message": message}), event(block))


def _messages_call(call_id: str, name: str, arguments: str, at: int = 0) -> tuple[bytes, ...]:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": arguments}
    return (
        event({"type": "content_block_start", "index": 1 + at, "content_block": block}),
        event({"type": "content_block_delta", "index": 1 + at, "delta": delta}),
        event({"type": "content_block_stop", "index": 1 + at}),
    )


def _message_end(calls: bool) -> tuple[bytes, ...]:
    delta = {"stop_reason": "tool_use" if calls else "end_turn"}
    return (event({"type": "message_delta", "delta": delta, "usage": {}}), event({"type": "message_stop"}))


def _tool_results(body: Any) -> dict[str, str]:
    blocks = [block for one in body["messages"] for block in one["content"] if isinstance(block, dict)]
    return {block["tool_use_id"]: block["content"] for block in blocks if block["type"] == "tool_result"}


MESSAGES = Spoken(
    name="anthropic-messages",
    sdk="anthropic",
    path="/v1/messages",
    model=AnthropicMessages,
    client=AsyncAnthropic,
    begin=_message_start(),
    text=lambda text: event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
    call=_messages_call,
    end=_message_end,
    error=lambda code, message: event({"type": "error", "error": {"type": code, "message": message}}),
    results=_tool_results,
    tools=lambda body: [tool["name"] for tool in body["tools"]],
)

PROVIDERS = (CHAT, RESPONSES, MESSAGES)


class Body(httpx2.AsyncByteStream):
    """A response body that knows whether it was closed; an exception among its pieces is raised."""

    def __init__(self, *pieces: bytes | Exception, endless: bool = False) -> None:
        self.pieces = pieces
        self.endless = endless
        self.waiting = anyio.Event()
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece
        if self.endless:
            self.waiting.set()
            await anyio.sleep_forever()

    async def aclose(self) -> None:
        self.closed = True


def connected(
    spoken: Spoken,
    *bodies: Body,
    requests: list[httpx2.Request] | None = None,
    defaults: dict[str, Any] | None = None,
    **answer: Any,
) -> Any:
    """Return the chat model of a protocol over its SDK, whose requests get these bodies, or else one answer."""
    left = list(bodies)

    async def handle(request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        if requests is not None:
            requests.append(request)
        if not left:
            return httpx2.Response(**answer)
        return httpx2.Response(200, stream=left.pop(0), headers={"content-type": "text/event-stream"})

    http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(handle))
    client = spoken.client(api_key="key", base_url="http://model.test", max_retries=0, http_client=http_client)
    return spoken.model(client, model="m", **(defaults or {}))
