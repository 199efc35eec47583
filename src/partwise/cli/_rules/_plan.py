"""From what a user said to what is done, stage by stage."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

import attrs

from partwise.messages import AssistantMessage, Message, TextPart, ToolCallPart, UserMessage

from ._intents import Call, Intent, Say
from ._recognise_files import counting, listing, naming, reading, searching
from ._recognise_others import calculating, repeating, talking, writing
from ._words import Clause, Memory, clauses_of, strip_polite, unfenced

__all__ = ["Plan", "plan", "question_of", "recall"]

Rule: TypeAlias = Callable[[Clause, Memory], "tuple[Intent, ...] | None"]
# Each stage is done after the one before it; what is in one stage is done side by side.
Plan: TypeAlias = tuple[tuple[Intent, ...], ...]

# The first rule that understands a clause has it.
_RULES: tuple[Rule, ...] = (
    repeating,
    calculating,
    writing,
    searching,
    listing,
    counting,
    reading,
    talking,
    naming,
)
# Nobody asks for one thing at such length; and the rules look at each word more than once.
_LONGEST_REQUEST = 1_000
_FILE_TOOLS = frozenset({"count", "read_file", "write_file"})
_DICTATION = re.compile(
    r"^(?P<head>(?:write|append|add|save|put|create)\b[^:\n]{0,300}?)\s*:\s*(?P<text>\S.*)$", re.IGNORECASE | re.DOTALL
)


def plan(text: str, memory: Memory) -> Plan:
    """Understand what a user said.

    Args:
        text: The user's words.
        memory: What was talked about before.

    Returns:
        At least one stage; something that no rule understands becomes an ``unknown`` in its place.
    """
    dictated = _dictation(text, memory)
    if dictated is not None:
        return ((dictated,),)
    stages: list[tuple[Intent, ...]] = []
    said: list[str] = []
    for clause in clauses_of(text):
        intents = _understood(clause, memory)
        if stages and not clause.after and not _must_wait(stages[-1], intents):
            stages[-1] += intents
        else:
            stages.append(intents)
        files = [str(one.args["path"]) for one in intents if isinstance(one, Call) and one.tool in _FILE_TOOLS]
        said += [file for file in files if file not in said]
        calls = tuple((one.tool, one.args) for one in intents if isinstance(one, Call))
        memory = attrs.evolve(memory, files=tuple(said) or memory.files, calls=calls or memory.calls)
    return tuple(_without_repeats(stage) for stage in stages) or ((Say("unknown"),),)


def _understood(clause: Clause, memory: Memory) -> tuple[Intent, ...]:
    for rule in _RULES if len(clause.text) <= _LONGEST_REQUEST else ():
        intents = rule(clause, memory)
        if intents is not None:
            return intents
    return (Say("unknown", clause.plain(clause.text)),)


def _must_wait(stage: Sequence[Intent], intents: Sequence[Intent]) -> bool:
    """Whether a write is among calls that would otherwise run side by side with it."""
    calls = [one for one in stage if isinstance(one, Call)]
    later = [one for one in intents if isinstance(one, Call)]
    return bool(calls and later) and any(call.tool == "write_file" for call in (*calls, *later))


def _without_repeats(stage: Sequence[Intent]) -> tuple[Intent, ...]:
    kept: list[Intent] = []
    for intent in stage:
        if intent not in kept:
            kept.append(intent)
    return tuple(kept)


def _dictation(text: str, memory: Memory) -> Intent | None:
    """Understand "append to notes.txt: ..." where everything after the colon is the text, whatever it says."""
    found = _DICTATION.match(strip_polite(text))
    if found is None:
        return None
    head = clauses_of(found["head"])
    if len(head) != 1 or head[0].marks[1:]:
        return None
    intents = writing(attrs.evolve(head[0], text=f"{head[0].text} x"), memory)
    if not intents or not isinstance(intents[0], Call):
        return None
    return attrs.evolve(intents[0], args={**intents[0].args, "text": unfenced(found["text"])})


def question_of(messages: Sequence[Message]) -> str:
    """Return the words of the last message of the user."""
    last = next((one for one in reversed(messages) if isinstance(one, UserMessage)), None)
    return "" if last is None else "\n".join(part.text for part in last.content if isinstance(part, TextPart))


def recall(messages: Sequence[Message]) -> Memory:
    """Return what was talked about, read off the calls of the answers before."""
    files: tuple[str, ...] = ()
    calls: tuple[tuple[str, Mapping[str, object]], ...] = ()
    for message in reversed(messages):
        if not isinstance(message, AssistantMessage):
            continue
        made = [part for part in message.content if isinstance(part, ToolCallPart)]
        calls = calls or tuple((part.tool_name, part.args) for part in made)
        files = files or tuple(dict.fromkeys(_path(part) for part in made if part.tool_name in _FILE_TOOLS))
        if files and calls:
            break
    return Memory(tuple(file for file in files if file), calls)


def _path(part: ToolCallPart) -> str:
    """The file of a call: as the tool found it, otherwise as it was asked for."""
    result = cast("Mapping[str, object]", part.result if isinstance(part.result, Mapping) else {})
    return str(result.get("path") or part.args.get("path") or "")
