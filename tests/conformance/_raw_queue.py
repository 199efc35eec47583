"""A message queue by itself, with a driver that a vector describes."""

from collections.abc import Callable
from typing import Any

import attrs

from partwise.messages import message_from_like, message_text, new_id
from partwise.runtimes import AppendRequest, MessageQueue

from ._composing import move, parts_json
from ._failures import scripted, written
from ._spelling import loose

Json = Any


class RawQueue:
    """Performs the operations of a raw queue, and writes down what its driver is told."""

    def __init__(self, given: Json) -> None:
        self.given = given
        self.calls: list[Json] = []
        self.is_notified = False
        self.failure: Exception | None = None
        driver: Any = attrs.make_class("Driver", [], slots=False)()
        driver.run = self._run
        if given.get("cancel"):
            driver.cancel = self._cancel
        self.queue = MessageQueue(driver, on_change=self._changed, on_failure=self._failed)

    def _run(self, request: AppendRequest, *, steer: bool) -> None:
        self.calls.append(["run", message_text(request.message), {"steer": steer}])

    def _cancel(self) -> None:
        self.calls.append(["cancel"])
        if self.given["cancel"] == "notifies":
            self.queue.notify_cancelled()
        if self.given["cancel"] == "raises":
            raise scripted("cancel failed")

    def _changed(self) -> None:
        self.is_notified = True

    def _failed(self, error: Exception) -> None:
        # What listeners raise is reported; what the driver raises is the failure of a send.
        if str(error) != "listener":
            self.failure = error

    def steps(self) -> list[Json]:
        return [self._step(op) for op in self.given["ops"]]

    def _step(self, op: Json) -> Json:
        self.calls, self.is_notified, self.failure = [], False, None
        shown: Json = {}
        try:
            self._perform(op)
        except Exception as error:
            shown["error"] = written(error)
        if self.failure is not None:
            shown["error"] = written(self.failure)
        shown |= {"queue": self._lane(self.queue.items), "steer": self._lane(self.queue.steer_items)}
        return {**shown, "notified": self.is_notified, **({"calls": self.calls} if self.calls else {})}

    def _lane(self, items: Any) -> Json:
        if self.given.get("parts"):
            return [{"id": item.id, "prompt": item.prompt, "parts": parts_json(item.parts)} for item in items]
        return [[item.id, item.prompt] for item in items]

    def _item(self, reference: Json) -> Json:
        if not isinstance(reference, dict):
            return reference
        ((kind, index),) = reference.items()
        items = self.queue.items if kind == "$queue" else self.queue.steer_items
        return items[index].id if -len(items) <= index < len(items) else "missing"

    def _perform(self, op: Json) -> None:
        act: dict[str, Callable[[], object]] = {
            "enqueue": lambda: self.queue.enqueue(_request(op)),
            "steer": lambda: self.queue.steer(_request(op)),
            "edit": lambda: self.queue.edit(self._item(op["item"]), _request(op)),
            "remove": lambda: self.queue.remove(self._item(op["item"])),
            "move": lambda: move(self.queue, self._item(op["item"]), op["placement"], self._item),
            "notify_busy": self.queue.notify_busy,
            "notify_idle": self.queue.notify_idle,
            "notify_cancelled": self.queue.notify_cancelled,
            "clear": self.queue.clear,
            "subscribe": lambda: self.queue.subscribe(_raise),
            "transform": lambda: setattr(self.queue, "transform", lambda request: _prefixed(op["prefix"], request)),
        }
        act[op["op"]]()


def _raise() -> None:
    raise RuntimeError("listener")


def _request(op: Json) -> AppendRequest:
    like = {
        "role": "user",
        "content": op["content"] if "content" in op else op["text"],
        "attachments": [{"content": [], **item} for item in op.get("attachments", [])],
    }
    return AppendRequest(message=message_from_like(loose(like), fallback_id=new_id()))


def _prefixed(prefix: str, request: AppendRequest) -> AppendRequest:
    text = prefix + message_text(request.message)
    return attrs.evolve(request, message=message_from_like(text, fallback_id=request.message.id))
