"""The chat model: rules in place of a language model."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from datetime import datetime

import anyio

from partwise.adapters import RunContext
from partwise.messages import AssistantMessage, ToolCallPart
from partwise.stream import Chunk, Finish, TextDelta, ToolArgsDelta, ToolArgsFinish, ToolCallStart

from ._answers import answer, joined
from ._intents import Call, Say
from ._plan import Plan, plan, question_of, recall
from ._says import announcement, in_words, said, unknown

__all__ = ["rules_model"]

_WORDS = re.compile(r"\s*\S+|\s+$")
_ARGS_PIECE = 6
DELAY = 0.015


def _now() -> datetime:
    return datetime.now().astimezone()


async def rules_model(
    run: RunContext, *, delay: float = DELAY, clock: Callable[[], datetime] = _now
) -> AsyncGenerator[Chunk, None]:
    """Answer by rules: call tools for what the user asks, then say what came of it.

    What it says depends only on the conversation (and on the clock, if asked for the time): the same
    question gets the same answer, and the ids of its calls follow from the id of the answer.

    Args:
        run: The roundtrip to be served.
        delay: Seconds between two pieces; 0 for none.
        clock: Tells the time.

    Yields:
        Text word by word, the arguments of calls piece by piece, and how it ends.
    """
    async for chunk in _paced(_reply(run, clock), delay):
        yield chunk


async def _paced(chunks: Iterator[Chunk], delay: float) -> AsyncGenerator[Chunk, None]:
    for chunk in chunks:
        if delay > 0 and isinstance(chunk, (TextDelta, ToolArgsDelta)):
            await anyio.sleep(delay)
        yield chunk


def _reply(run: RunContext, clock: Callable[[], datetime]) -> Iterator[Chunk]:
    stages = plan(question_of(run.messages), recall(run.messages))
    made = _calls_made(run.message)
    for number, stage in enumerate(stages):
        calls = {
            f"{run.assistant_message_id}-{number}-{index}": intent
            for index, intent in enumerate(stage)
            if isinstance(intent, Call) and intent.tool in run.tools
        }
        if any(call_id not in made for call_id in calls):
            yield from _ask(calls)
            return
    yield from _text(_conclusion(run, stages, made, clock))
    yield Finish("stop")


def _calls_made(message: AssistantMessage) -> dict[str, ToolCallPart]:
    return {part.tool_call_id: part for part in message.content if isinstance(part, ToolCallPart)}


def _ask(calls: dict[str, Call]) -> Iterator[Chunk]:
    yield from _text(announcement(tuple(calls.values())))
    for call_id, call in calls.items():
        yield ToolCallStart(call_id, call.tool)
        arguments = json.dumps(dict(call.args), ensure_ascii=False)
        for start in range(0, len(arguments), _ARGS_PIECE):
            yield ToolArgsDelta(call_id, arguments[start : start + _ARGS_PIECE])
        yield ToolArgsFinish(call_id)
    yield Finish("tool-calls")


def _conclusion(run: RunContext, stages: Plan, made: dict[str, ToolCallPart], clock: Callable[[], datetime]) -> str:
    spoken: list[str] = []
    answers: list[str] = []
    lacking: list[str] = []
    puzzling: list[str] = []
    for number, stage in enumerate(stages):
        for index, intent in enumerate(stage):
            part = made.get(f"{run.assistant_message_id}-{number}-{index}")
            match intent:
                case Say(topic="unknown"):
                    puzzling.append(intent.about)
                case Say():
                    spoken.append(said(intent, clock()))
                case Call() if part is not None:
                    answers.append(answer(part))
                case Call():
                    lacking.append(f"`{intent.tool}`")
    if lacking:
        names = _once(lacking)
        tools = f"tool {names[0]} is" if len(names) == 1 else f"tools {in_words(names)} are"
        answers.append(f"I cannot do that here: the {tools} not offered to me.")
    paragraphs = [*_once(spoken), *([joined(answers)] if answers else []), *([unknown(puzzling)] if puzzling else [])]
    return "\n\n".join(paragraphs)


def _once(items: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(items))


def _text(text: str) -> Iterator[Chunk]:
    return (TextDelta(piece) for piece in _WORDS.findall(text))
