"""psygnal: one signal of snapshots, and a callback for each part that compares."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from partwise.cli._bench._thread import PARTS, Parameters, Place, Thread, reader, thread, with_texts

__all__ = ["Psygnal"]


class Psygnal:
    """One shared signal: psygnal has no derived values, so each callback reads and compares by itself."""

    def version(self) -> str:
        """Return the version of psygnal."""
        return str(importlib.import_module("psygnal").__version__)

    def build(self, parameters: Parameters) -> None:
        """Make a signal and connect a callback for each slice."""
        psygnal: Any = importlib.import_module("psygnal")
        self._parameters = parameters
        self._targets = parameters.targets()
        self._deliveries = 0
        self._state = thread(parameters.messages)
        self._changed: Any = psygnal.SignalInstance((object,), check_nargs_on_connect=False)
        for place in parameters.places():
            self._connect(place)

    def _connect(self, place: Place) -> Callable[[Thread], None]:
        read = reader(place, self._parameters.depth)
        last = read(self._state)

        def on_change(state: Thread) -> None:
            nonlocal last
            value = read(state)
            if value is not last:
                last = value
                self._deliveries += 1

        self._changed.connect(on_change, check_nargs=False, unique=False)
        return on_change

    def change(self, number: int) -> None:
        """Emit the next snapshot."""
        self._state = with_texts(self._state, self._targets, f"token {number}")
        self._changed.emit(self._state)

    def deliveries(self) -> int:
        """Return how many values callbacks found to be new."""
        return self._deliveries

    def evaluations(self) -> int | None:
        """Leave it to the counting of reads."""
        return None

    def churn(self, number: int) -> None:
        """Connect one more callback, and disconnect it."""
        place = divmod(number % (self._parameters.messages * PARTS), PARTS)
        self._changed.disconnect(self._connect(place))

    def close(self) -> None:
        """Disconnect everything."""
        self._changed.disconnect()
