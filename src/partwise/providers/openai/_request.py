"""From a conversation to the parameters of a Chat Completions request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from partwise.messages import (
    AssistantMessage,
    FileContent,
    FilePart,
    Message,
    ReasoningPart,
    SystemMessage,
    TextContent,
    TextPart,
    ToolCallPart,
    UserMessage,
    thaw,
)
from partwise.providers.wire import (
    address_of,
    arguments_text,
    as_json,
    description_of,
    file_note,
    is_provider_executed,
    link_note,
    mappings,
    request_headers,
    said_by,
    settings_of,
)
from partwise.tools import tools_for_backend

from ._user import detail_of, user_content

if TYPE_CHECKING:
    from partwise.adapters import RunContext

__all__ = ["chat_messages", "chat_request"]

_SETTINGS = (
    "frequency_penalty",
    "logit_bias",
    "max_completion_tokens",
    "max_tokens",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "temperature",
    "tool_choice",
    "top_p",
    "user",
)


# The files of a tool's result that the models are shown.
_SHOWN = ("image/", "application/pdf")


def chat_request(
    run: RunContext, model: str, defaults: Mapping[str, Any], *, reasoning_field: str | None = None
) -> dict[str, Any]:
    """Return the parameters of the request for a roundtrip.

    Args:
        run: The conversation, the tools and the settings. Settings of the context are laid over the
            defaults; ``model_name`` and ``reasoning_effort`` are taken from its config.
        model: The model, unless the context names another.
        defaults: Further parameters, as the SDK calls them.
        reasoning_field: Where the server wants the reasoning of the answer in progress, if it does.
    """
    context = run.context
    settings = settings_of(run, _SETTINGS)
    if context.config.get("reasoning_effort") is not None:
        settings.setdefault("reasoning_effort", context.config["reasoning_effort"])
    tools = [
        {"type": "function", "function": {"name": name, **description_of(tool), "parameters": thaw(tool["parameters"])}}
        for name, tool in tools_for_backend(context).items()
    ]
    return {
        **defaults,
        **settings,
        **request_headers(run, defaults),
        **({"tools": tools} if tools else {}),
        "model": context.config.get("model_name") or model,
        "messages": chat_messages((*run.messages, run.message), system=context.system, reasoning_field=reasoning_field),
    }


def chat_messages(
    messages: Sequence[Message], *, system: str | None = None, reasoning_field: str | None = None
) -> list[dict[str, Any]]:
    """Return messages as the Chat Completions API writes them.

    Sources and data are not sent, nor are calls that the provider ran itself. A call without a result
    is left out, because the API accepts no call that nobody answered. The results of tools are texts;
    pictures and PDF in them follow in a message of the user. Signed and encrypted reasoning
    goes back to the server that sent it (``reasoning_details``), plain reasoning only where a field for
    it is named, and only that of the last message: some servers want it while they call tools, and
    refuse it later.

    Args:
        messages: The conversation; the answer in progress, if there is one, comes last.
        system: Instructions, before all messages.
        reasoning_field: The field for plain reasoning, such as ``reasoning_content``.
    """
    sent: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for message in messages:
        match message:
            case SystemMessage():
                sent.append({"role": "system", "content": "".join(part.text for part in message.content)})
            case UserMessage():
                sent.append({"role": "user", "content": user_content(message, _text, _file)})
            case AssistantMessage():
                sent.extend(_assistant_messages(message, reasoning_field if message is messages[-1] else None))
            case _:
                assert_never(message)
    return sent


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _file(file: FilePart | FileContent) -> dict[str, Any]:
    address = address_of(file.data, file.media_type, getattr(file, "source_type", None))
    if address.id:
        return {"type": "file", "file": {"file_id": address.id}}
    if address.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": address.data_url, **detail_of(file)}}
    if address.url:  # the API takes files, but no addresses of files
        return _text(link_note(file, address.url))
    return {"type": "file", "file": {"filename": file.filename or "file", "file_data": address.data_url}}


def _assistant_messages(message: AssistantMessage, reasoning_field: str | None) -> Iterator[dict[str, Any]]:
    """Give one message per roundtrip, as far as the parts show where one ended, each with the results of its calls."""
    parts: list[TextPart | ReasoningPart | ToolCallPart] = []
    for part in message.content:
        if isinstance(part, ToolCallPart):
            if part.has_result and not is_provider_executed(part):
                parts.append(part)
        elif isinstance(part, (TextPart, ReasoningPart)):
            if parts and isinstance(parts[-1], ToolCallPart):
                yield from _roundtrip(parts, reasoning_field)
                parts = []
            parts.append(part)
    yield from _roundtrip(parts, reasoning_field)


def _roundtrip(
    parts: Sequence[TextPart | ReasoningPart | ToolCallPart], reasoning_field: str | None
) -> Iterator[dict[str, Any]]:
    text = "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    if not text and not calls:
        return
    sent: dict[str, Any] = {"role": "assistant", "content": text or None}
    reasoning = "\n\n".join(part.text for part in parts if isinstance(part, ReasoningPart))
    if reasoning_field and reasoning:
        sent[reasoning_field] = reasoning
    details = list(_details(parts))
    if details:
        sent["reasoning_details"] = details
    if calls:
        sent["tool_calls"] = [_call(call) for call in calls]
    yield sent
    for call in calls:
        yield {"role": "tool", "tool_call_id": call.tool_call_id, "content": _result(call)}
    shown = [item for call in calls for item in _shown(call)]
    if shown:
        yield {"role": "user", "content": shown}


def _details(parts: Sequence[TextPart | ReasoningPart | ToolCallPart]) -> Iterator[dict[str, Any]]:
    """Give the marks of the reasoning as the server sent them; the text of a signed one is that of its part."""
    for part in parts:
        for mark in mappings(thaw(said_by("openai", part.provider_metadata).get("reasoning_details"))):
            if isinstance(part, ReasoningPart) and mark.get("type") == "reasoning.text":
                yield {"text": part.text, **mark}
            else:
                yield dict(mark)


def _call(call: ToolCallPart) -> dict[str, Any]:
    function = {"name": call.tool_name or "unknown", "arguments": arguments_text(call)}
    return {"id": call.tool_call_id, "type": "function", "function": function}


def _result(call: ToolCallPart) -> str | list[dict[str, Any]]:
    if call.model_content is not None:
        return [_text(_model_text(content)) for content in call.model_content]
    return call.result if isinstance(call.result, str) else as_json(call.result)


def _shown(call: ToolCallPart) -> Iterator[dict[str, Any]]:
    """Give the pictures and documents of a result, which the API takes from nobody but the user."""
    for content in call.model_content or ():
        if isinstance(content, FileContent) and content.media_type.startswith(_SHOWN):
            item = _file(content)
            if item["type"] != "text":
                yield _text(f"{file_note(content)}, which {call.tool_name or 'the tool'} gave for {call.tool_call_id}:")
                yield item


def _model_text(content: TextContent | FileContent) -> str:
    match content:
        case TextContent():
            return content.text
        case FileContent():  # a tool's message may hold nothing but text
            return file_note(content)
        case _:
            assert_never(content)
