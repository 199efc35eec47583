"""Bare Rx: a subject of snapshots, and a pipe of `map` and identity `distinct_until_changed` for each part."""

from __future__ import annotations

import importlib.metadata

from reactivex import Observable
from reactivex import operators as ops
from reactivex.abc import DisposableBase
from reactivex.subject import BehaviorSubject

from partwise.cli._bench._thread import PARTS, Parameters, Place, Thread, reader, thread, with_texts

__all__ = ["RxPipe"]


class RxPipe:
    """What one would write with reactivex alone."""

    def version(self) -> str:
        """Return the version of reactivex."""
        return f"reactivex {importlib.metadata.version('reactivex')}"

    def build(self, parameters: Parameters) -> None:
        """Make a subject and a pipe for each slice."""
        self._parameters = parameters
        self._targets = parameters.targets()
        self._deliveries = 0
        self._subject: BehaviorSubject[Thread] = BehaviorSubject(thread(parameters.messages))
        self._subscriptions = [self.listen(place) for place in parameters.places()]
        self._deliveries = 0

    def _pipe(self, place: Place) -> Observable[object]:
        return self._subject.pipe(
            ops.map(reader(place, self._parameters.depth)), ops.distinct_until_changed(comparer=_same)
        )

    def listen(self, place: Place) -> DisposableBase:
        """Listen to one part."""
        return self._pipe(place).subscribe(self._hear)

    def _hear(self, value: object) -> None:
        del value
        self._deliveries += 1

    def change(self, number: int) -> None:
        """Emit the next snapshot."""
        self._subject.on_next(with_texts(self._subject.value, self._targets, f"token {number}"))

    def deliveries(self) -> int:
        """Return how many values listeners were given."""
        return self._deliveries

    def evaluations(self) -> int | None:
        """Leave it to the counting of reads."""
        return None

    def churn(self, number: int) -> None:
        """Subscribe to one more part, and dispose."""
        place = divmod(number % (self._parameters.messages * PARTS), PARTS)
        self.listen(place).dispose()

    def close(self) -> None:
        """Dispose of every subscription."""
        for subscription in self._subscriptions:
            subscription.dispose()


def _same(one: object, other: object) -> bool:
    return one is other
