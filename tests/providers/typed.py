"""What is sent to a provider, held against the types that its SDK has for it."""

from __future__ import annotations

import typing
from collections.abc import Iterable
from typing import Any, cast

import typing_extensions
from anthropic.types.beta import BetaContentBlockParam
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import EasyInputMessageParam, ResponseInputItemParam, ResponseOutputMessageParam
from pydantic import TypeAdapter

__all__ = ["check_blocks", "check_chat", "check_items"]


def _adapters(union: Any) -> dict[str, TypeAdapter[Any]]:
    """The types of a union by what they are called; it may also name the SDK's own objects, which take any field."""
    kinds: dict[str, TypeAdapter[Any]] = {}
    for member in filter(typing_extensions.is_typeddict, typing.get_args(union)):
        for kind in typing.get_args(typing_extensions.get_type_hints(member).get("type")):
            kinds.setdefault(kind, TypeAdapter(member))
    return kinds


_BLOCKS = _adapters(BetaContentBlockParam)
_ITEMS = {**_adapters(ResponseInputItemParam), "message": TypeAdapter(ResponseOutputMessageParam)}
_SAID: TypeAdapter[Any] = TypeAdapter(EasyInputMessageParam)
_CHAT: TypeAdapter[Any] = TypeAdapter(ChatCompletionMessageParam)


def check_blocks(messages: Iterable[dict[str, Any]]) -> None:
    """Hold the messages of a Messages request against the SDK: every block is one of its own, with no other field."""
    for message in messages:
        assert message["role"] in ("user", "assistant")
        for block in message["content"]:
            assert _read(_BLOCKS[block["type"]].validate_python(block)) == block


def check_items(items: Iterable[dict[str, Any]]) -> None:
    """Hold the input of a Responses request against the SDK."""
    for item in items:
        adapter = _ITEMS[item["type"]] if "type" in item else _SAID
        assert _read(adapter.validate_python(item)) == item


def check_chat(messages: Iterable[dict[str, Any]]) -> None:
    """Hold the messages of a Chat Completions request against the SDK."""
    for message in messages:
        ours = {key: value for key, value in message.items() if key not in ("reasoning_details", "reasoning_content")}
        assert _read(_CHAT.validate_python(message)) == ours


def _read(value: Any) -> Any:
    """Read what pydantic checks only when it is read; fields that a type does not know are gone."""
    if isinstance(value, dict):
        return {key: _read(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    return [_read(item) for item in value]
