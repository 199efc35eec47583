"""What happened in a scenario, written the way the vectors write it."""

from typing import Any

import attrs

from partwise.messages import Message, thaw
from partwise.store import ThreadState

from . import _spelling

Json = Any

EVENTS = {"initialize": "initialize", "run_start": "runStart", "run_end": "runEnd"}
CAPABILITIES = {
    "answer_tool_call": "answerToolCall",
    "copy": "unstable_copy",
    "refetch": "refetchThread",
    "switch_branch_during_run": "switchBranchDuringRun",
    "switch_to_branch": "switchToBranch",
}
# Adapters of the reference that the product does not have.
FOREIGN_CAPABILITIES = {"attachments", "dictation", "speech", "voice"}


@attrs.define(eq=False)
class Trace:
    """The log of the step that is being performed."""

    log: list[Json] = attrs.field(factory=list)

    def note(self, *entry: Json) -> None:
        self.log.append(list(entry))

    def take(self) -> list[Json]:
        """The entries since the last time."""
        log, self.log = self.log, []
        return log


def message(value: Message) -> Json:
    """A message without what has its default."""
    plain = _spelling.message(value)
    for item, written in zip(getattr(value, "attachments", ()), plain.get("attachments", []), strict=True):
        if item.file is not None:
            written["file"] = getattr(item.file, "name", item.file)
    quote = plain["metadata"]["custom"].get("quote")
    if isinstance(quote, dict) and "message_id" in quote:
        plain["metadata"]["custom"]["quote"] = {"text": quote["text"], "messageId": quote["message_id"]}
    metadata = {key: item for key, item in plain.pop("metadata").items() if not _is_default(key, item)}
    if not plain.get("attachments"):
        plain.pop("attachments", None)
    return {**plain, "metadata": metadata} if metadata else plain


def _is_default(key: str, value: Json) -> bool:
    match key:
        case "custom":
            return value == {}
        case "isOptimistic":
            return value is False
        case _:
            return value is None or value == []


def state(value: ThreadState) -> Json:
    """A state at rest."""
    shown: Json = {"messages": [message(item) for item in value.messages], "isRunning": value.is_running}
    if value.is_loading:
        shown["isLoading"] = True
    if value.is_disabled:
        shown["isDisabled"] = True
    if value.is_send_disabled:
        shown["isSendDisabled"] = True
    if value.extras is not None:
        shown["extras"] = thaw(value.extras)
    if value.suggestions:
        shown["suggestions"] = [
            {key: item for key, item in attrs.asdict(suggestion).items() if item is not None}
            for suggestion in value.suggestions
        ]
    if value.state is not None:
        shown["state"] = thaw(value.state)
    if value.branches:
        shown["branches"] = {key: list(ids) for key, ids in value.branches.items()}
    return shown


def capabilities(value: ThreadState) -> list[str]:
    """The capabilities of a state in the reference's spelling, sorted."""
    return sorted(CAPABILITIES.get(name, name) for name in value.capabilities)
