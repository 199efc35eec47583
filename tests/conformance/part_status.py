"""Family ``part_status``: the status of each part of a message."""

from typing import Any

from partwise.messages import message_from_like, part_status

from ._outcome import Outcome, first_difference, passed
from ._spelling import WHEN, loose, status

Json = Any


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given = loose(vector["input"]["message"])
    if given["role"] == "system":
        # The product has no system message of several parts: its parts are looked at one by one.
        statuses = [_statuses({**given, "content": [part]})[0] for part in given["content"]]
    else:
        statuses = _statuses(given)
    return first_difference(vector["expected"]["statuses"], statuses, "statuses") or passed()


def _statuses(given: Json) -> Json:
    message = message_from_like(given, fallback_id="m", fallback_time=WHEN)
    return [status(part_status(message, index)) for index in range(len(message.content))]
