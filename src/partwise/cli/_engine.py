"""What answers: rules, a recording, or an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs

from partwise.adapters import ChatModel, ChatModelFunction
from partwise.tools import Toolkit

from ._options import ChatOptions
from ._rules import folder_tools, rules_model

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
        case "openai":
            from partwise.providers.openai import OpenAIChat  # needs an extra

            assert options.model is not None
            asked = OpenAIChat(model=options.model, base_url=options.base_url, api_key=options.api_key)
            return Answering(
                model=asked,
                title=options.model,
                tools=(folder_tools(options.root),),
                instructions=_INSTRUCTIONS,
                close=asked.aclose,
            )
