"""Suggestions: asked for after a completed answer, dropped as soon as something newer happens."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterable
from typing import cast

import anyio

from partwise.adapters import SuggestionRequest
from partwise.errors import AdapterError
from partwise.runtimes._attempt import attempt, close
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
        request = SuggestionRequest(
            messages=tuple(self._host.document.state.messages), thread_id=self._host.options.thread_id
        )

        async def work() -> None:
            output = suggest(request)
            if inspect.isawaitable(output):
                self._show(scope, await output)
            else:
                await self._follow(scope, aiter(output))

        ending = await attempt(scope, work, self._report)
        if ending.error is not None:
            self._report(ending.error)
        if self._scope is scope:
            self._scope = None

    async def _follow(self, scope: anyio.CancelScope, outputs: AsyncIterator[Iterable[Suggestion | str]]) -> None:
        try:
            async for suggestions in outputs:
                if not self._show(scope, suggestions):
                    break
        finally:
            await close(outputs, self._report)

    def _show(self, scope: anyio.CancelScope, suggestions: Iterable[Suggestion | str]) -> bool:
        """Show suggestions; returns False when nobody wants them any more."""
        if self._scope is not scope:
            return False
        shown = tuple(Suggestion(item) if isinstance(item, str) else item for item in suggestions)
        if not all(isinstance(item, Suggestion) for item in cast("tuple[object, ...]", shown)):
            text = f"gave {shown!r}, which are no suggestions"
            adapter = "suggestions"
            raise AdapterError(adapter, text)
        self._host.document.set(suggestions=shown)
        return True

    def _report(self, error: Exception) -> None:
        self._host.report("suggestions", f"failed: {error}", error)
