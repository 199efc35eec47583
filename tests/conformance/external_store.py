"""Family ``external_store``: scenarios of the runtime that mirrors somebody else's messages."""

import re
from typing import Any

import anyio

from ._both import Both
from ._external import ExternalOperations
from ._failures import written
from ._outcome import Outcome, differs, first_difference, passed
from ._purpose_external import RULES
from ._reading import generated_ids
from ._scenario import Scenario
from .local_run import RECORDED_IDS, ids_of, recorded, view

Json = Any


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given, expected = vector["input"], vector["expected"]
    if "error" in expected["initial"]:
        return _refused(given, expected["initial"]["error"])
    actual = anyio.run(_perform, given, backend="asyncio")
    return compare(given, recorded(expected), actual, is_total=expected["order"] == "total")


async def _perform(given: Json) -> Json:
    return await Scenario(given, [], ExternalOperations).run()


def _refused(given: Json, wanted: Json) -> Outcome:
    try:
        anyio.run(_perform, given, backend="asyncio")
    except Exception as error:
        return first_difference(wanted, written(error)) or passed()
    return first_difference(wanted, None) or passed()


def compare(given: Json, wanted: Json, actual: Json, *, is_total: bool, rules: Any = RULES) -> Outcome:
    """Compare what was recorded with what happened, but for what differs on purpose."""
    pattern = generated_ids(given, {item for item in ids_of(actual) if not item.startswith("position-")})
    both = Both.of(given, wanted, actual)
    for rule in rules:
        rule(both)
    one = view(both.wanted[: both.stop], None if both.stop is not None else both.wanted_end, RECORDED_IDS)
    other = view(both.actual[: both.stop], None if both.stop is not None else both.actual_end, pattern)
    if not is_total:
        one["logs"] = other["logs"] = []
    found = first_difference(_positional(one), other)
    return found or (differs(*both.rows) if both.rows else passed())


def _positional(value: Json) -> Json:
    """The reference's spelling of an id made of a position, in the product's."""
    if isinstance(value, str):
        return re.sub(r"__external_store_fallback_(\d+)", r"position-\1", value)
    if isinstance(value, list):
        return [_positional(item) for item in value]
    if isinstance(value, dict):
        return {_positional(key): _positional(item) for key, item in value.items()}
    return value
