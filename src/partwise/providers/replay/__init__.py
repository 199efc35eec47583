"""A chat model that replays a recorded stream through the code that reads live ones; needs the provider's extra."""

from ._protocols import PROTOCOLS, Protocol, protocol_of
from ._recording import Recording, read_recording
from ._replay import Replayed, replay

__all__ = ["PROTOCOLS", "Protocol", "Recording", "Replayed", "protocol_of", "read_recording", "replay"]
