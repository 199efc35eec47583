"""Suggestions: asked for after a completed answer, dropped as soon as something newer happens."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import anyio

from partwise.adapters import SuggestionRequest
from partwise.store import Suggestion

from ._host import Host

__all__ = ["SuggestionTask"]


class SuggestionTask:
    """At most one request for suggestions at a time; its failures are reported and change nothing."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._scope: anyio.CancelScope | None = None

    def stop(self) -> None:
        """End a request that is under way; what it had given stays."""
        scope, self._scope = self._scope, None
        if scope is not None:
            scope.cancel()

    def start(self) -> None:
        """Ask for suggestions on what is visible now, in the background."""
        self.stop()
        if self._host.options.suggestions is not None:
            self._scope = anyio.CancelScope()
            self._host.spawn(self._ask, self._scope)

    async def _ask(self, scope: anyio.CancelScope) -> None:
        suggest = self._host.options.suggestions
        if suggest is None:
            return
        with scope:
            try:
                request = SuggestionRequest(
                    messages=tuple(self._host.document.state.messages), thread_id=self._host.options.thread_id
                )
                output = suggest(request)
                if inspect.isawaitable(output):
                    self._show(scope, await output)
                else:
                    async for suggestions in output:
                        self._show(scope, suggestions)
            except Exception as error:
                self._host.report("suggestions", f"failed: {error}", error)
        if self._scope is scope:
            self._scope = None

    def _show(self, scope: anyio.CancelScope, suggestions: Iterable[Suggestion | str]) -> None:
        if self._scope is scope:
            shown = tuple(Suggestion(item) if isinstance(item, str) else item for item in suggestions)
            self._host.document.set(suggestions=shown)
