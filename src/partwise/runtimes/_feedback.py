"""What users think of answers."""

from __future__ import annotations

import attrs

from partwise.adapters import FeedbackFunction, FeedbackType
from partwise.messages import AssistantMessage, Feedback, with_metadata

from ._document import Document

__all__ = ["give_feedback"]


def give_feedback(document: Document, feedback: FeedbackFunction | None, message_id: str, type: FeedbackType) -> None:
    """Tell the feedback adapter, if there is one, what the user thinks, and show it on the answer.

    Raises:
        MessageNotFoundError: The id is unknown.
    """
    message = document.tree.get(message_id).message
    if feedback is not None:
        feedback(message, type)
    if isinstance(message, AssistantMessage):
        metadata = attrs.evolve(message.metadata, submitted_feedback=Feedback(type))
        document.replace(with_metadata(message, metadata))
