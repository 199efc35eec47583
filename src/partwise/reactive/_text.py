"""A growing text as what was added to it, for renderers that append."""

from __future__ import annotations

from collections.abc import Callable

import attrs
from reactivex import Observable, abc


@attrs.frozen
class TextAppended:
    """Text was added at the end.

    Attributes:
        text: What was added.
    """

    text: str


@attrs.frozen
class TextReset:
    """The text is another one now, not a continuation.

    Attributes:
        text: All of it.
    """

    text: str


@attrs.frozen
class TextDone:
    """There will be no more text.

    Attributes:
        text: All of it, as it was last.
    """

    text: str


TextEvent = TextAppended | TextReset | TextDone


def text_deltas() -> Callable[[Observable[str]], Observable[TextEvent]]:
    """Turn texts into what must be done to show them: append, replace all, stop.

    The first text is appended to nothing. Each character is delivered once as long as texts grow.
    Finding out that a text continues the one before compares their common part in one block, which
    costs less than it cost to make the new text.
    """

    def operator(source: Observable[str]) -> Observable[TextEvent]:
        def subscribe(
            observer: abc.ObserverBase[TextEvent], scheduler: abc.SchedulerBase | None = None
        ) -> abc.DisposableBase:
            shown = ""

            def on_next(text: str) -> None:
                nonlocal shown
                before, shown = shown, text
                if text.startswith(before):
                    if len(text) > len(before):
                        observer.on_next(TextAppended(text[len(before) :]))
                else:
                    observer.on_next(TextReset(text))

            def on_completed() -> None:
                try:
                    observer.on_next(TextDone(shown))
                finally:
                    observer.on_completed()

            return source.subscribe(on_next, observer.on_error, on_completed, scheduler=scheduler)

        return Observable(subscribe)

    return operator
