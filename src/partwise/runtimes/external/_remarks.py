"""What is wrong with a feed, told once each."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from partwise.errors import FeedError

__all__ = ["Remarks"]


class Remarks:
    """Tells what a feed holds that cannot be shown as it is, each thing once.

    Args:
        report: Told where and what.
        is_strict: Whether to raise instead.
    """

    def __init__(self, report: Callable[[str, str], None], *, is_strict: bool) -> None:
        self._report = report
        self.is_strict = is_strict
        self._told: set[Hashable] = set()

    def tell(self, code: str, about: Hashable, text: str) -> None:
        """Tell something about a message or call.

        Args:
            code: What kind of thing, for example ``"duplicate-id"``.
            about: What it is about; the same kind of thing about the same is not told again.
            text: What is wrong, and what is done about it.

        Raises:
            FeedError: The feed is to be strict.
        """
        if self.is_strict:
            raise FeedError(text, code=code)
        if (code, about) not in self._told:
            self._told.add((code, about))
            self._report("feed", text)
