"""What answers: rules, a recording, or a language model at a provider."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, assert_never

import attrs

from partwise.adapters import ChatModel, ChatModelFunction
from partwise.tools import Toolkit

from ._keys import telling_about_keys
from ._options import ChatOptions, Provider
from ._rules import folder_tools, rules_model

if TYPE_CHECKING:
    from partwise.providers.anthropic import AnthropicMessages
    from partwise.providers.openai import OpenAIChat, OpenAIResponses

__all__ = ["Answering", "choose"]

_INSTRUCTIONS = (
    "You are chatting in the user's terminal. You have tools for one folder of theirs; paths are relative to it. "
    "Use them when they help, and answer in Markdown."
)


async def _nothing_to_close() -> None:
    return


@attrs.frozen(kw_only=True)
class Answering:
    """An engine, ready for a runtime.

    Attributes:
        tools: What the engine may call; a recording's calls are only shown.
        title: What it is, for the user.
        close: Lets go of connections.
    """

    model: ChatModel | ChatModelFunction
    title: str
    tools: tuple[Toolkit, ...] = ()
    instructions: str | None = None
    close: Callable[[], Awaitable[None]] = _nothing_to_close


def choose(options: ChatOptions) -> Answering:
    """Make the engine that was asked for.

    Raises:
        ImportError: It needs an extra that is not installed.
        WireError: The recording is none.
    """
    match options.engine:
        case "rules":
            title = "rules, not a language model"
            return Answering(model=rules_model, title=title, tools=(folder_tools(options.root),))
        case "replay":
            from partwise.providers.replay import replay  # needs an extra

            assert options.replay is not None
            replayed = replay(options.replay, speed=options.speed)
            return Answering(model=replayed, title=f"replay of {options.replay.name}", close=replayed.aclose)
        case provider:
            return _provided(provider, options)


def _provided(provider: Provider, options: ChatOptions) -> Answering:
    assert options.model is not None
    asked = _model(provider)(model=options.model, base_url=options.base_url, api_key=options.api_key)
    return Answering(
        model=telling_about_keys(asked, options),
        title=f"{options.model} ({provider})",
        tools=(folder_tools(options.root),),
        instructions=_INSTRUCTIONS,
        close=asked.aclose,
    )


def _model(provider: Provider) -> type[OpenAIChat | OpenAIResponses | AnthropicMessages]:
    """Return the chat model of a provider; each needs its extra."""
    match provider:
        case "openai":
            from partwise.providers.openai import OpenAIChat

            return OpenAIChat
        case "openai-responses":
            from partwise.providers.openai import OpenAIResponses

            return OpenAIResponses
        case "anthropic":
            from partwise.providers.anthropic import AnthropicMessages

            return AnthropicMessages
        case _:
            assert_never(provider)
