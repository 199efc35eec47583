"""observ: mutable data behind proxies, and a watcher for each part."""

from __future__ import annotations

import importlib
from typing import Any

from partwise.cli._bench._thread import PARTS, Depth, Parameters, Place

__all__ = ["Observ"]


class Observ:
    """Fine-grained, too, but of data that is changed in place: there is no snapshot to keep or compare."""

    def version(self) -> str:
        """Return the version of observ."""
        return str(importlib.import_module("observ").__version__)

    def build(self, parameters: Parameters) -> None:
        """Make the data and a synchronous watcher for each slice."""
        self._observ: Any = importlib.import_module("observ")
        self._parameters = parameters
        self._targets = parameters.targets()
        self._deliveries = 0
        self._evaluations = 0
        self._state: Any = self._observ.reactive({"messages": [_message() for _ in range(parameters.messages)]})
        self._watchers: list[Any] = [self._watch(place) for place in parameters.places()]

    def _watch(self, place: Place) -> Any:
        read = _reader(self._state, place, self._parameters.depth)

        def counted() -> object:
            self._evaluations += 1
            return read()

        return self._observ.watch(counted, self._hear, sync=True)

    def _hear(self, value: object) -> None:
        del value
        self._deliveries += 1

    def change(self, number: int) -> None:
        """Put the next values in place."""
        text = f"token {number}"
        for message, part in self._targets:
            content = self._state["messages"][message]["content"]
            if self._parameters.depth == "text":
                content[part]["text"] = text
            elif self._parameters.depth == "argument":
                content[part]["args"]["file"]["line"] = text
            elif self._parameters.depth == "part":
                content[part] = _part(text)
            else:
                self._state["messages"][message] = _message(text)

    def deliveries(self) -> int:
        """Return how many values watchers were given."""
        return self._deliveries

    def evaluations(self) -> int | None:
        """Return how often a watcher read."""
        return self._evaluations

    def churn(self, number: int) -> None:
        """Make one more watcher, and stop it."""
        place = divmod(number % (self._parameters.messages * PARTS), PARTS)
        self._watch(place).stop()

    def close(self) -> None:
        """Stop every watcher."""
        for watcher in self._watchers:
            watcher.stop()


def _part(text: str = "") -> dict[str, object]:
    return {"text": text, "args": {"file": {"line": text}}}


def _message(text: str = "") -> dict[str, object]:
    return {"content": [_part(text) for _ in range(PARTS)]}


def _reader(state: Any, place: Place, depth: Depth) -> Any:
    message, part = place
    if depth == "message":
        return lambda: state["messages"][message]
    if depth == "part":
        return lambda: state["messages"][message]["content"][part]
    if depth == "text":
        return lambda: state["messages"][message]["content"][part]["text"]
    return lambda: state["messages"][message]["content"][part]["args"]["file"]["line"]
