"""reaktiv: one signal of snapshots, and a computed value with an effect for each part."""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import Any

from partwise.cli._bench._thread import PARTS, Parameters, Place, reader, thread, with_texts

__all__ = ["Reaktiv"]


class Reaktiv:
    """Signals: every computed value depends on the one signal that holds the snapshot."""

    def version(self) -> str:
        """Return the version of reaktiv."""
        return importlib.metadata.version("reaktiv")

    def build(self, parameters: Parameters) -> None:
        """Make a signal, and a computed value and an effect for each slice."""
        self._reaktiv: Any = importlib.import_module("reaktiv")
        self._parameters = parameters
        self._targets = parameters.targets()
        self._deliveries = 0
        self._state: Any = self._reaktiv.Signal(thread(parameters.messages))
        self._effects: list[Any] = [self._effect(place) for place in parameters.places()]
        self._deliveries = 0

    def _effect(self, place: Place) -> Any:
        read = reader(place, self._parameters.depth)
        state = self._state
        value: Any = self._reaktiv.Computed(lambda: read(state()))

        def hear() -> None:
            value()
            self._deliveries += 1

        return self._reaktiv.Effect(hear)

    def change(self, number: int) -> None:
        """Set the next snapshot."""
        state = self._state
        state.set(with_texts(self._reaktiv.untracked(state), self._targets, f"token {number}"))

    def deliveries(self) -> int:
        """Return how often an effect ran."""
        return self._deliveries

    def evaluations(self) -> int | None:
        """Leave it to the counting of reads."""
        return None

    def churn(self, number: int) -> None:
        """Make one more effect, and dispose of it."""
        place = divmod(number % (self._parameters.messages * PARTS), PARTS)
        self._effect(place).dispose()

    def close(self) -> None:
        """Dispose of every effect."""
        for effect in self._effects:
            effect.dispose()
