"""The terminal chat; needs the extra ``textual``."""

from ._chat import ChatApp, run_app

__all__ = ["ChatApp", "run_app"]
