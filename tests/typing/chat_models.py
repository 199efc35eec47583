"""What a type checker knows about chat models."""

from collections.abc import AsyncGenerator
from typing import assert_type

from partwise.adapters import ChatModel, ChatModelFunction, RunContext
from partwise.providers.openai import OpenAIChat
from partwise.providers.replay import replay
from partwise.stream import Chunk, TextDelta, is_chunk


def the_openai_model_is_a_chat_model(model: OpenAIChat, run: RunContext) -> ChatModel:
    assert_type(model.run(run), AsyncGenerator[Chunk])
    return model


def a_replay_is_a_chat_model() -> ChatModel:
    return replay("a.sse", speed=10)


async def _words(run: RunContext) -> AsyncGenerator[TextDelta]:
    yield TextDelta("hi")


def a_generator_of_chunks_is_a_chat_model() -> ChatModelFunction:
    return _words


def a_chunk_is_told_from_other_values(value: object) -> Chunk | None:
    return value if is_chunk(value) else None
