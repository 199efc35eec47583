"""The floor: the same frozen update by hand, and one direct call for each part that changed."""

from __future__ import annotations

import platform
from collections.abc import Callable

from partwise.cli._bench._thread import Parameters, Place, reader, thread, with_texts

__all__ = ["Floor"]


class Floor:
    """What somebody would write who knows in advance who has to be told."""

    def version(self) -> str:
        """Return the version of Python."""
        return platform.python_version()

    def build(self, parameters: Parameters) -> None:
        """Make the thread; only the slices that will change are kept, as direct calls."""
        self._state = thread(parameters.messages)
        self._targets = parameters.targets()
        self._deliveries = 0
        self._hearers: list[tuple[Callable[..., object], Callable[[object], None]]] = []
        self._parameters = parameters
        changed = {message if parameters.depth == "message" else (message, part) for message, part in self._targets}
        for message, part in parameters.places():
            if (message if parameters.depth == "message" else (message, part)) in changed:
                self._hearers.append((reader((message, part), parameters.depth), self._hear))

    def _hear(self, value: object) -> None:
        del value
        self._deliveries += 1

    def change(self, number: int) -> None:
        """Replace the snapshot and call those who look at what changed."""
        self._state = state = with_texts(self._state, self._targets, f"token {number}")
        for read, hear in self._hearers:
            hear(read(state))

    def deliveries(self) -> int:
        """Return how many calls were made."""
        return self._deliveries

    def evaluations(self) -> int | None:
        """Leave it to the counting of reads."""
        return None

    def churn(self, number: int) -> None:
        """Put one more listener in a list, and take it out again."""
        place: Place = divmod(number % (self._parameters.messages * 3), 3)
        entry = (reader(place, self._parameters.depth), self._hear)
        self._hearers.append(entry)
        entry[1](entry[0](self._state))
        self._hearers.remove(entry)

    def close(self) -> None:
        """Forget the listeners."""
        self._hearers = []
