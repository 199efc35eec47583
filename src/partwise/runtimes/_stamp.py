"""What providers of a model context say about messages that go out."""

from __future__ import annotations

import attrs

from partwise.messages import Message, UserMessage
from partwise.tools import ModelContextRegistry

__all__ = ["stamped"]


def stamped(message: Message, context: ModelContextRegistry) -> Message:
    """Lay what providers say about outgoing messages over a user's metadata."""
    metadata = context.get_model_context().composer_metadata
    if not metadata or not isinstance(message, UserMessage):
        return message
    custom = {**message.metadata.custom, **metadata}
    return attrs.evolve(message, metadata=attrs.evolve(message.metadata, custom=custom))
