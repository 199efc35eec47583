"""Family ``interop``: what the Python package writes, read here as the reference reads it."""

from typing import Any

from . import codecs
from ._outcome import Outcome


def run(vector: dict[str, Any]) -> Outcome:
    """Run one vector; see `_outcome`."""
    return codecs.run(vector)
