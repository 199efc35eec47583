"""Family ``message_like``: loose messages made strict, the derived status of a message, and its text."""

import re
from typing import Any

import attrs

from partwise.errors import MessageLikeError
from partwise.messages import (
    AssistantMessage,
    LikeIssue,
    auto_status,
    branches_from_likes,
    message_from_like,
    message_text,
    messages_from_likes,
    parts_from_like,
)

from ._outcome import Outcome, differs, first_difference, passed
from ._spelling import WHEN, fallback_status, loose, message, status

Json = Any

# The product's ids of what the reference gives random ids: tool calls without one, messages of a list.
GENERATED = re.compile(r"fallback-\d+|generated-\d+")


@attrs.define
class Trace:
    """What the product said aside while it read a vector."""

    issues: list[LikeIssue] = attrs.field(factory=list)

    def count(self, *codes: str) -> int:
        return sum(issue.code in codes for issue in self.issues)


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    wanted, trace = vector["expected"], Trace()
    try:
        actual = _symbolic(_perform(vector["input"], trace))
    except MessageLikeError as error:
        if wanted == {"error": "type-error"}:
            return differs("typed-error-for-bad-content")
        actual = {"error": error.code}
    if trace.count("image"):
        actual["warnings"] = trace.count("image")
    rows = ["loose-fields-reported"] if trace.count("unknown-field", "metadata-role") else []
    promised = _promised(wanted, trace)
    if promised != wanted and ".attachments" in str(first_difference(wanted, promised)):
        rows.append("attachment-unknown-part")
    return first_difference(promised, actual) or (differs(*rows) if rows else passed())


def _promised(wanted: Json, trace: Trace) -> Json:
    """What is recorded, but with unknown fields of parts left out and unknown parts of attachments as data."""
    if "message" not in wanted:
        return wanted
    unknown = {issue.text.split("'")[-2] for issue in trace.issues if issue.code == "unknown-field"}
    message = dict(wanted["message"])
    message["content"] = [{k: v for k, v in part.items() if k not in unknown} for part in message["content"]]
    if message.get("attachments"):
        message["attachments"] = [
            {**item, "content": [_known(part) for part in item["content"]]} for item in message["attachments"]
        ]
    return {**wanted, "message": message}


def _known(part: Json) -> Json:
    if part["type"] in {"text", "image", "file", "audio", "data"}:
        return part
    return {"type": "data", "name": part["type"], "data": {k: v for k, v in part.items() if k != "type"}}


def _perform(given: Json, trace: Trace) -> Json:
    match given["fn"]:
        case "from_thread_message_like":
            made = message_from_like(
                loose(given["like"]),
                fallback_id=given.get("fallbackId", "fallback"),
                fallback_status=fallback_status(given.get("fallbackStatus")),
                report=trace.issues.append,
            )
            return {"message": _dated(message(made, with_time="createdAt" in given["like"]))}
        case "from_array":
            ids = (f"generated-{number}" for number in range(100))
            chain = messages_from_likes(map(loose, given["messages"]), make_id=lambda: next(ids))
            parents = [None, *(made.id for made in chain)]
            return {"repository": {"messages": _entries(zip(chain, parents, strict=False))}}
        case "from_branchable_array":
            pairs = [(loose(item["message"]), item["parentId"]) for item in given["items"]]
            head = {"headId": given["headId"]} if "headId" in given else {}
            return {"repository": {**head, "messages": _entries(branches_from_likes(pairs))}}
        case "auto_status":
            return _auto_status(given)
        case "message_text":
            content = parts_from_like(given["content"], "user", "m")
            return {"text": message_text(AssistantMessage(id="m", created_at=WHEN, content=content))}  # type: ignore[arg-type]  # any parts
        case unknown:
            raise ValueError(f"unknown function {unknown!r}")


def _auto_status(given: Json) -> Json:
    made = auto_status(
        is_last=given["isLast"],
        is_running=given["isRunning"],
        has_interrupted=given["hasInterruptedToolCalls"],
        has_pending=given["hasPendingToolCalls"],
        error=given["error"],
    )
    return {"status": status(made), "isAuto": made.is_automatic}


def _entries(pairs: Json) -> Json:
    return [{"parentId": parent, "message": message(made)} for made, parent in pairs]


def _dated(made: Json) -> Json:
    if "createdAt" in made:
        made["createdAt"] = made["createdAt"].replace("+00:00", "Z")
    return made


def _symbolic(value: Json) -> Json:
    """Number the generated ids in the order of their appearance, keys in code-point order."""
    names: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return names.setdefault(found.group(), f"$id{len(names) + 1}")

    def visit(item: Json) -> Json:
        if isinstance(item, str):
            return GENERATED.sub(name, item)
        if isinstance(item, list):
            return [visit(inner) for inner in item]
        return {key: visit(item[key]) for key in sorted(item)} if isinstance(item, dict) else item

    return visit(value)
