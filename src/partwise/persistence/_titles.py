"""Titles: a plain one out of the first message, and the pieces of any other."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterable

from partwise.adapters import TitleFunction
from partwise.messages import Message, TextPart

__all__ = ["simple_title", "title_pieces"]

_LONGEST = 50


def simple_title(messages: tuple[Message, ...]) -> str:
    """Make a title of what the user said first, cut to 50 characters; "New Thread" if that has no text."""
    first = next((message for message in messages if message.role == "user"), None)
    parts = () if first is None else first.content
    text = next((part.text.strip() for part in parts if isinstance(part, TextPart)), "")
    if not text:
        return "New Thread"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


async def title_pieces(title: TitleFunction | None, messages: tuple[Message, ...]) -> AsyncGenerator[str, None]:
    """Yield what a title function makes, however it does that; nothing without one."""
    if title is None:
        return
    made = title(messages)
    if isinstance(made, AsyncIterable):
        async for piece in made:
            yield piece
    elif inspect.isawaitable(made):
        yield await made
    else:
        yield made
