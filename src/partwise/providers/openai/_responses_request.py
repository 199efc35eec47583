"""From a conversation to the parameters of a Responses request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from partwise.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    UserMessage,
    thaw,
)
from partwise.providers.wire import description_of, request_headers, said_by, settings_of
from partwise.tools import tools_for_backend

from ._responses_turn import file_item, text_item, turn_items
from ._user import user_content

if TYPE_CHECKING:
    from partwise.adapters import RunContext

__all__ = ["responses_input", "responses_request"]

_SETTINGS = (
    "include",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "prompt_cache_key",
    "reasoning",
    "service_tier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
)


def responses_request(run: RunContext, model: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the request for a roundtrip.

    Args:
        run: The conversation, the tools and the settings. Settings of the context are laid over the
            defaults; ``model_name`` and ``reasoning_effort`` are taken from its config.
        model: The model, unless the context names another.
        defaults: Further parameters, as the SDK calls them. Their ``tools`` are those that the
            provider runs; the run's own are added to them.
    """
    context = run.context
    settings = {**defaults, **settings_of(run, _SETTINGS), **request_headers(run, defaults)}
    if "max_tokens" in context.call_settings:
        settings.setdefault("max_output_tokens", context.call_settings["max_tokens"])
    effort = context.config.get("reasoning_effort")
    if effort is not None:
        settings["reasoning"] = {"effort": effort, **_without_effort(settings.get("reasoning"))}
    tools = [*(settings.pop("tools", None) or ()), *_tools(run)]
    return {
        **settings,
        **({"tools": tools} if tools else {}),
        **({"instructions": context.system} if context.system else {}),
        "model": context.config.get("model_name") or model,
        "input": responses_input((*run.messages, run.message), is_stored=settings.get("store") is not False),
    }


def _without_effort(reasoning: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (reasoning or {}).items() if key != "effort"}


def _tools(run: RunContext) -> Iterator[dict[str, Any]]:
    for name, tool in tools_for_backend(run.context).items():
        options = thaw(said_by("openai", tool.get("provider_options")))
        yield {
            "type": "function",
            "name": name,
            **description_of(tool),
            "parameters": thaw(tool["parameters"]),
            "strict": False,  # a strict schema must list every parameter as required, which the user's need not
            **options,
        }


def responses_input(messages: Sequence[Message], *, is_stored: bool = True) -> list[dict[str, Any]]:
    """Return messages as the Responses API writes them.

    Reasoning is sent back where the API can read it: with its encrypted content, or by its id within
    the last message, if the service stores responses. Sources and data are not sent.

    Args:
        messages: The conversation; the answer in progress, if there is one, comes last.
        is_stored: Whether the service keeps what it answered, so that an id is enough.
    """
    sent: list[dict[str, Any]] = []
    for message in messages:
        match message:
            case SystemMessage():
                sent.append({"role": "system", "content": "".join(part.text for part in message.content)})
            case UserMessage():
                sent.append({"role": "user", "content": user_content(message, text_item, file_item)})
            case AssistantMessage():
                sent.extend(turn_items(message, is_stored=is_stored, is_last=message is messages[-1]))
            case _:
                assert_never(message)
    return sent
