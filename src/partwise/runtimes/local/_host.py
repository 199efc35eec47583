"""What the pieces of a local thread share."""

from __future__ import annotations

from typing import TypeAlias

from partwise.runtimes import _host

from ._options import LocalOptions

__all__ = ["Host"]

Host: TypeAlias = _host.Host[LocalOptions]
