"""What may be done with a thread, told from what it was given."""

from __future__ import annotations

from typing import Final

__all__ = ["CAPABILITIES", "local_capabilities"]

CAPABILITIES: Final = frozenset(
    {
        "answer_tool_call",
        "attachments",
        "cancel",
        "copy",
        "delete",
        "dictation",
        "edit",
        "feedback",
        "queue",
        "refetch",
        "reload",
        "speech",
        "switch_branch_during_run",
        "switch_to_branch",
        "voice",
    }
)
_ALWAYS_LOCAL: Final = frozenset(
    {"answer_tool_call", "cancel", "copy", "edit", "reload", "switch_branch_during_run", "switch_to_branch"}
)


def local_capabilities(
    *, history: object | None, has_feedback: bool, has_queue: bool, has_attachments: bool
) -> frozenset[str]:
    """Tell what a local thread can do with these adapters; ``delete`` needs a history that can delete."""
    extra = {
        "delete": history is not None and hasattr(history, "delete"),
        "attachments": has_attachments,
        "feedback": has_feedback,
        "queue": has_queue,
    }
    return _ALWAYS_LOCAL | {name for name, present in extra.items() if present}
