"""Following an observable from inside a widget."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Generic, TypeVar, cast

from reactivex import Observable
from reactivex.abc import DisposableBase
from textual.message_pump import MessagePump

from partwise.reactive import per_frame

__all__ = ["FRAMES", "Follows"]

T = TypeVar("T")

# Each refresh lays out and paints the whole screen: about fifteen a second look fluent and leave time for the rest.
FRAMES = 15.0

_NOTHING = object()


class _Following(Generic[T]):
    """Holds the newest value that was not handed over yet."""

    def __init__(self, pump: MessagePump, handler: Callable[[T], object]) -> None:
        self._pump = pump
        self._handler = handler
        self._newest: object = _NOTHING
        self.upstream: DisposableBase | None = None

    def on_next(self, value: T) -> None:
        is_queued = self._newest is not _NOTHING
        self._newest = value
        if not is_queued and not self._pump.call_later(self._hand_over):
            self.dispose()  # the widget is gone

    async def _hand_over(self) -> None:
        value, self._newest = self._newest, _NOTHING
        if value is _NOTHING:
            return
        result = self._handler(cast("T", value))
        if inspect.isawaitable(result):
            await result

    def dispose(self) -> None:
        self._newest = _NOTHING
        if self.upstream is not None:
            self.upstream.dispose()


class Follows:
    """A mixin for widgets (and apps, and screens): ``follow`` an observable for as long as they are mounted.

    ```python
    class Answer(Follows, Static):
        def on_mount(self) -> None:
            self.follow(part.text, self.update, hz=FRAMES)
    ```
    """

    def follow(
        self, source: Observable[T], handler: Callable[[T], object], *, hz: float | None = None
    ) -> Callable[[], None]:
        """Hand the values of an observable to a function, inside this widget's own message pump.

        Values that come faster than they are taken are left out, except for the newest one. Call it
        when or after the widget is mounted.

        Args:
            source: For example a slice.
            handler: A function or an async function.
            hz: At most so many values a second.

        Returns:
            A function that ends it earlier.
        """
        following: _Following[T] = _Following(cast("MessagePump", self), handler)
        limited = source if hz is None else source.pipe(per_frame(hz))
        following.upstream = limited.subscribe(following.on_next)
        self._followings.append(following.dispose)
        return following.dispose

    def follow_events(self, source: Observable[T], handler: Callable[[T], object]) -> None:
        """Hand every value of an observable to a function, inside this widget's own message pump."""
        pump = cast("MessagePump", self)

        def on_next(value: T) -> None:
            pump.call_later(handler, value)

        self._followings.append(source.subscribe(on_next).dispose)

    @property
    def _followings(self) -> list[Callable[[], None]]:
        found: list[Callable[[], None]] | None = self.__dict__.get("_pw_followings")
        if found is None:
            found = self.__dict__["_pw_followings"] = []
        return found

    def _on_unmount(self) -> None:
        # Textual calls this handler of every class of a widget, besides an on_unmount of its own.
        for dispose in self._followings:
            dispose()
        self._followings.clear()
