"""A chat model that replays a recorded stream through the code that reads live ones; needs the extra ``openai``."""

from ._recording import read_recording
from ._replay import replay_chat

__all__ = ["read_recording", "replay_chat"]
