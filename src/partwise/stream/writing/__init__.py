"""The writing side of a stream: the controller, the parts as they are written, and chunks by their places."""

from ._controller import StreamController, stream_of
from ._handles import CallWriter, TextWriter
from ._parts import PartWriter
from ._placing import Placer

__all__ = ["CallWriter", "PartWriter", "Placer", "StreamController", "TextWriter", "stream_of"]
