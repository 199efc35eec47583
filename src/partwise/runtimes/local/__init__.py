"""The local runtime: messages owned here, runs made here."""

from ._options import DEFAULT_MAX_STEPS, LocalOptions
from ._runtime import LocalRuntime
from ._thread import LocalThread

__all__ = ["DEFAULT_MAX_STEPS", "LocalOptions", "LocalRuntime", "LocalThread"]
