"""python-redux: a store with a reducer, and an autorun with a selector for each part."""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import Any

from partwise.cli._bench._thread import PARTS, Parameters, Place, Thread, reader, thread, with_texts

__all__ = ["Redux"]


class Redux:
    """Every dispatched action runs every selector."""

    def version(self) -> str:
        """Return the version of python-redux."""
        return importlib.metadata.version("python-redux")

    def build(self, parameters: Parameters) -> None:
        """Make a store and an autorun for each slice."""
        redux: Any = importlib.import_module("redux")
        self._parameters = parameters
        self._targets = parameters.targets()
        self._deliveries = 0

        self._action: Any = type("NewText", (redux.BaseAction,), {"__annotations__": {"text": str}})
        self._store: Any = redux.Store(self._reduce, redux.StoreOptions(auto_init=True, side_effect_threads=0))
        self._autoruns: list[Any] = [self._autorun(place) for place in parameters.places()]
        self._deliveries = 0

    def _reduce(self, state: Thread | None, action: object) -> Thread:
        if state is None:
            return thread(self._parameters.messages)
        text = getattr(action, "text", None)
        return state if text is None else with_texts(state, self._targets, text)

    def _autorun(self, place: Place) -> Any:
        def hear(value: object) -> None:
            del value
            self._deliveries += 1

        return self._store.autorun(reader(place, self._parameters.depth))(hear)

    def change(self, number: int) -> None:
        """Dispatch the next action."""
        self._store.dispatch(self._action(text=f"token {number}"))

    def deliveries(self) -> int:
        """Return how often an autorun ran."""
        return self._deliveries

    def evaluations(self) -> int | None:
        """Leave it to the counting of reads."""
        return None

    def churn(self, number: int) -> None:
        """Make one more autorun, and unsubscribe it."""
        place = divmod(number % (self._parameters.messages * PARTS), PARTS)
        self._autorun(place).unsubscribe()

    def close(self) -> None:
        """Unsubscribe every autorun."""
        for autorun in self._autoruns:
            autorun.unsubscribe()
