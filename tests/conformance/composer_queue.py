"""Family ``composer_queue``: drafts, files, edits, and the queue of messages."""

import re
from typing import Any

import anyio

from . import _purpose_composer as purpose
from ._both import Both
from ._external import ExternalOperations
from ._operations import Operations
from ._outcome import Outcome, differs, first_difference, passed
from ._raw_queue import RawQueue
from ._reading import Names, generated_ids
from ._scenario import Scenario
from ._suggesting import Suggesting
from .local_run import RECORDED_IDS, RULES, ids_of, recorded, view

Json = Any


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given, expected = vector["input"], vector["expected"]
    if given.get("kind") == "queue":
        return _raw(given, expected)
    wanted = recorded(expected)
    suggesting = Suggesting(given, wanted["steps"])
    make = Operations if given["runtime"] == "local" else ExternalOperations
    actual = anyio.run(_perform, given, suggesting.numbers, make, backend="asyncio")
    return compare(given, wanted, actual, suggesting, is_total=expected["order"] == "total")


async def _perform(given: Json, numbers: list[int], make: Any) -> Json:
    return await Scenario(given, numbers, make).run()


def compare(given: Json, wanted: Json, actual: Json, suggesting: Suggesting, *, is_total: bool) -> Outcome:
    """Compare what was recorded with what happened, but for what differs on purpose."""
    pattern = generated_ids(given, {item for item in ids_of(actual) | _waiting(actual) if not item.startswith("att-")})
    both = Both.of(given, wanted, actual)
    for rule in (*purpose.RULES, *RULES):
        rule(both)
    one = view(both.wanted[: both.stop], None if both.stop is not None else both.wanted_end, RECORDED_IDS)
    other = view(both.actual[: both.stop], None if both.stop is not None else both.actual_end, pattern)
    if suggesting.has_refused:
        both.because("suggestions-after-complete")
    if not is_total:
        one["logs"] = other["logs"] = []
    return first_difference(one, other) or (differs(*both.rows) if both.rows else passed())


def _waiting(actual: Json) -> set[str]:
    """The ids of queue items and attachments that a scenario met."""
    drafts = [step["state"].get("composer", {}) for step in actual["steps"]]
    drafts += [draft for step in actual["steps"] for draft in step["state"].get("edits", {}).values()]
    return {item["id"] for draft in drafts for name in ("queue", "attachments") for item in draft.get(name, [])}


def _raw(given: Json, expected: Json) -> Outcome:
    steps = RawQueue(given).steps()
    items = [item for step in steps for item in [*step["queue"], *step["steer"]]]
    ids = {item[0] if isinstance(item, list) else item["id"] for item in items}
    made = re.compile("|".join(map(re.escape, sorted(ids))) or r"(?!)")
    stop = purpose.parting(given, expected["steps"], steps)
    one = Names(RECORDED_IDS).visit(purpose.quiet(expected["steps"])[:stop])
    found = first_difference(one, Names(made).visit(purpose.quiet(steps)[:stop]))
    return found or (passed() if stop is None else differs("queue-goes-on"))
