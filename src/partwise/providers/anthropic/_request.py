"""From a conversation to the parameters of a Messages request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from partwise.messages import (
    AssistantMessage,
    AudioPart,
    DataPart,
    FilePart,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    UserMessage,
    UserPart,
    is_blank,
    thaw,
)
from partwise.providers.wire import description_of, mapping, request_headers, said_by, settings_of, user_parts
from partwise.tools import tools_for_backend

from ._files import file_block, image_block, text_block
from ._turn import turn_messages

if TYPE_CHECKING:
    from partwise.adapters import RunContext

__all__ = ["messages_input", "messages_request"]

_SETTINGS = (
    "betas",
    "cache_control",
    "container",
    "context_management",
    "max_tokens",
    "metadata",
    "output_config",
    "service_tier",
    "stop_sequences",
    "thinking",
    "tool_choice",
)
# The SDK has no names for them any more; models that know them still take them.
_SAMPLING = ("temperature", "top_k", "top_p")
# The API wants to be told; longer answers are asked for with `max_tokens`.
_MAX_TOKENS = 8192
# What the provider metadata of a part of the user may say of its block.
_OPTIONS = {
    "text": ("cache_control",),
    "image": ("cache_control",),
    "document": ("cache_control", "citations", "context", "title"),
}
_CHOICES = {"auto": "auto", "required": "any", "any": "any", "none": "none"}


def messages_request(run: RunContext, model: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the request for a roundtrip.

    Args:
        run: The conversation, the tools and the settings. Settings of the context are laid over the
            defaults; ``model_name`` and ``reasoning_effort`` are taken from its config.
        model: The model, unless the context names another.
        defaults: Further parameters, as the SDK calls them. Their ``tools`` are those that the
            provider runs; the run's own are added to them.
    """
    context = run.context
    settings: dict[str, Any] = {
        "max_tokens": _MAX_TOKENS,
        **_container(run.message),
        **defaults,
        **settings_of(run, _SETTINGS),
        **request_headers(run, defaults),
    }
    stop = context.call_settings.get("stop")
    if stop:
        settings.setdefault("stop_sequences", [stop] if isinstance(stop, str) else thaw(stop))
    if isinstance(settings.get("tool_choice"), str):
        settings["tool_choice"] = {"type": _CHOICES.get(settings["tool_choice"], settings["tool_choice"])}
    effort = context.config.get("reasoning_effort")
    if effort is not None:
        settings["output_config"] = {**(settings.get("output_config") or {}), "effort": effort}
    sampling = {name: settings.pop(name) for name in _SAMPLING if name in settings} | settings_of(run, _SAMPLING)
    if sampling:
        settings["extra_body"] = {**sampling, **(settings.get("extra_body") or {})}
    tools = [*(settings.pop("tools", None) or ()), *_tools(run)]
    system, messages = messages_input((*run.messages, run.message), system=context.system)
    return {
        **settings,
        **({"tools": tools} if tools else {}),
        **({"system": system} if system else {}),
        "model": context.config.get("model_name") or model,
        "messages": messages,
    }


def _container(message: AssistantMessage) -> dict[str, Any]:
    """Return where the code of an answer in progress runs, so that it goes on there."""
    container = mapping(mapping(message.metadata.custom.get("anthropic")).get("container"))
    return {"container": container["id"]} if container.get("id") else {}


def _tools(run: RunContext) -> Iterator[dict[str, Any]]:
    for name, tool in tools_for_backend(run.context).items():
        options = thaw(said_by("anthropic", tool.get("provider_options")))
        yield {"name": name, **description_of(tool), "input_schema": thaw(tool["parameters"]), **options}


def messages_input(
    messages: Sequence[Message], *, system: str | None = None
) -> tuple[str | None, list[dict[str, Any]]]:
    """Return the instructions, and messages as the Messages API writes them.

    Thinking is sent back with its signature, calls that the provider ran with their results, sources as
    the citations of the text before them. Of data only the provider's own blocks are sent that it asks
    back. A call without a result is left out, because the API accepts no call that
    nobody answered, unless the provider is about to go on with it.

    Args:
        messages: The conversation; the answer in progress, if there is one, comes last.
        system: Instructions; those that stand in the conversation are added to them.
    """
    instructions = [system or ""]
    sent: list[dict[str, Any]] = []
    for message in messages:
        match message:
            case SystemMessage():
                instructions.append("".join(part.text for part in message.content))
            case UserMessage():
                content = [
                    {**block, **_options(part, block)} for part in user_parts(message) for block in _blocks(part)
                ]
                if content:
                    sent.append({"role": "user", "content": content})
            case AssistantMessage():
                sent.extend(turn_messages(message, is_last=message is messages[-1]))
            case _:
                assert_never(message)
    return "\n\n".join(text for text in instructions if not is_blank(text)) or None, sent


def _options(part: UserPart, block: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the user's program asks of the provider for a part, such as to cite it."""
    asked = thaw(said_by("anthropic", getattr(part, "provider_metadata", None)))
    return {name: asked[name] for name in _OPTIONS[block["type"]] if name in asked}


def _blocks(part: UserPart) -> Iterator[dict[str, Any]]:
    match part:
        case TextPart():
            if not is_blank(part.text):
                yield text_block(part.text)
        case ImagePart():
            yield image_block(part)
        case FilePart():
            yield file_block(part)
        case AudioPart():  # the API hears nothing
            yield text_block(f"[audio ({part.format})]")
        case DataPart():
            return
        case _:
            assert_never(part)
