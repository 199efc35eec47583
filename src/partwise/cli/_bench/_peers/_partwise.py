"""partwise: a tracked selector for each part, or the address of the part."""

from __future__ import annotations

from partwise._version import __version__
from partwise.cli._bench._thread import PARTS, Parameters, Place, reader, thread, with_texts
from partwise.reactive import AddressStep, Slice, Store, Subscription, attr, index, key

__all__ = ["Address", "Tracked"]


class Tracked:
    """A plain function of the snapshot for each part: ``store.select(lambda s: ...)``."""

    def version(self) -> str:
        """Return the version of partwise."""
        return __version__

    def build(self, parameters: Parameters) -> None:
        """Make a store and its slices."""
        self._parameters = parameters
        self._targets = parameters.targets()
        self._deliveries = 0
        self.store = Store(thread(parameters.messages), name="bench")
        self._subscriptions = [self.listen(place) for place in parameters.places()]
        self._deliveries = 0

    def slice_of(self, place: Place) -> Slice[object]:
        """Return the slice of one part."""
        return self.store.select(reader(place, self._parameters.depth))

    def listen(self, place: Place) -> Subscription:
        """Listen to one part."""
        return self.slice_of(place).subscribe(self._hear)

    def _hear(self, value: object) -> None:
        del value
        self._deliveries += 1

    def change(self, number: int) -> None:
        """Commit the next snapshot."""
        self.store.commit(with_texts(self.store.value, self._targets, f"token {number}"))

    def deliveries(self) -> int:
        """Return how many values listeners were given."""
        return self._deliveries

    def evaluations(self) -> int | None:
        """Return what the store has counted."""
        return self.store.statistics().evaluations

    def churn(self, number: int) -> None:
        """Subscribe to one more part, and dispose."""
        place = divmod(number % (self._parameters.messages * PARTS), PARTS)
        self.listen(place).dispose()

    def close(self) -> None:
        """Dispose of every subscription."""
        for subscription in self._subscriptions:
            subscription.dispose()


class Address(Tracked):
    """The address of each part, as ``thread.message(id).part(i)`` gives it."""

    def slice_of(self, place: Place) -> Slice[object]:
        """Return the slice at the address of one part."""
        return self.store.at(*_address(self._parameters, place))


def _address(parameters: Parameters, place: Place) -> tuple[AddressStep, ...]:
    message: tuple[AddressStep, ...] = (attr("messages"), key(f"m{place[0]}"))
    if parameters.depth == "message":
        return message
    part = (*message, attr("content"), index(place[1]))
    return part if parameters.depth == "part" else (*part, *_below(parameters))


def _below(parameters: Parameters) -> tuple[AddressStep, ...]:
    return (attr("text"),) if parameters.depth == "text" else (attr("args"), key("file"), key("line"))
