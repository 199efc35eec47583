"""Whole requests, held against the parameters that the SDKs know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import typing_extensions
from anthropic.types.beta import BetaToolParam
from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming
from openai.types.chat import ChatCompletionToolUnionParam
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses import FunctionToolParam
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

from partwise.providers.anthropic import _request as messages
from partwise.providers.openai import _request as chat
from partwise.providers.openai import _responses_request as responses
from partwise.tools import ModelContext, Tool

from .conversation import user

ALL = [
    (chat._SETTINGS, chat.chat_request, CompletionCreateParamsStreaming, ChatCompletionToolUnionParam),
    (responses._SETTINGS, responses.responses_request, ResponseCreateParamsStreaming, FunctionToolParam),
    (messages._SETTINGS, messages.messages_request, MessageCreateParamsStreaming, BetaToolParam),
]
each_request = pytest.mark.parametrize(
    ("settings", "request_of", "params", "tool"), ALL, ids=["chat", "responses", "m"]
)
# What the SDKs take with every request, whatever it asks for.
ALWAYS = {"extra_headers", "extra_body", "extra_query", "timeout"}


@each_request
def test_every_setting_is_a_parameter_of_the_sdk(
    settings: tuple[str, ...], request_of: Callable[..., Any], params: Any, tool: Any, make_run: Callable[..., Any]
) -> None:
    known = set(typing_extensions.get_type_hints(params))
    asked = {**dict.fromkeys(settings), "temperature": 0, "headers": {"h": "1"}, "unheard_of": 1, "max_tokens": 5}
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    look = Tool.from_schema("look", schema, lambda _, __: 1, description="Looks")
    context = ModelContext(
        system="Be brief", tools={"look": look}, call_settings=asked, config={"reasoning_effort": "low"}
    )

    request = request_of(make_run(user("Hi"), context=context), "m", {})

    assert set(settings) <= known
    assert request.keys() <= known | ALWAYS
    assert request["model"] == "m"
    (sent,) = request["tools"]
    assert TypeAdapter(tool).validate_python(sent) == sent
