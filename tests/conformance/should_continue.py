"""Family ``should_continue``: whether a message that stopped for tool calls goes on."""

import itertools
from collections.abc import Iterator
from typing import Any

from partwise.messages import (
    AssistantMessage,
    Message,
    UserMessage,
    message_from_like,
    parts_from_like,
    should_continue,
)

from ._outcome import Outcome, failed, first_difference, passed
from ._spelling import WHEN, fallback_status

Json = Any


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given, wanted = vector["input"], vector["expected"]
    human = given["humanToolNames"]
    if given["kind"] == "one":
        return first_difference(wanted["value"], should_continue(_one(given), human), "value") or passed()
    answers = [should_continue(message, human) for message in _table(given)]
    runs = _runs(answers)
    if runs == wanted["runs"] and len(answers) == wanted["count"] and sum(answers) == wanted["true"]:
        return passed()
    at = next((n for n, (a, b) in enumerate(zip(runs, wanted["runs"], strict=False)) if a != b), "end")
    return failed(wanted["runs"], runs, f"runs[{at}]")


def _one(given: Json) -> Message:
    if given["status"] is None:  # only assistant messages have a status
        return UserMessage(id="m", created_at=WHEN)
    like = {"role": "assistant", "content": given["content"], "status": given["status"]}
    return message_from_like(like, fallback_id="m", fallback_time=WHEN)


def _table(given: Json) -> Iterator[AssistantMessage]:
    status = fallback_status(given["status"])
    likes = [{"type": "tool-call", "toolCallId": f"c{n}", **state} for n, state in enumerate(given["states"])]
    states = parts_from_like(likes, "assistant", "m")
    before, after = (parts_from_like(given.get(side, []), "assistant", "m") for side in ("before", "after"))
    for count in range(given["upTo"] + 1):
        for calls in itertools.product(states, repeat=count):
            content = (*before, *calls, *after)
            yield AssistantMessage(id="m", created_at=WHEN, content=content, status=status)  # type: ignore[arg-type]  # parts of assistants


def _runs(answers: list[bool]) -> list[int]:
    """Lengths of the runs of false, true, false, … answers."""
    lengths = [len(list(group)) for _, group in itertools.groupby(answers)]
    return [0, *lengths] if answers[:1] == [True] else lengths
