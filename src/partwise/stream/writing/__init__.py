"""The writing side of a stream: parts as they are written, and the controller that hands their chunks on."""

from ._handles import CallWriter, TextWriter
from ._parts import PartWriter
from ._placing import Placer

__all__ = ["CallWriter", "PartWriter", "Placer", "TextWriter"]
