"""An agent that owns its messages, as other people's programs do, and a runtime that mirrors them."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import anyio

from partwise.messages import message_text, new_id
from partwise.runtimes import AppendRequest, Thread
from partwise.runtimes.external import ExternalStoreRuntime, RunRequest
from partwise.testing import Script


class Agent:
    """Keeps plain dictionaries, and lets the runtime know after each change."""

    def __init__(self, script: Script, **more: Any) -> None:
        self.script = script
        self.items: list[dict[str, Any]] = []
        self.scope: anyio.CancelScope | None = None
        self.runtime = ExternalStoreRuntime(
            on_new=self.on_new,
            on_edit=self.on_edit,
            on_reload=self.on_reload,
            on_cancel=self.on_cancel,
            set_messages=self.set_messages,
            is_running=False,
            **more,
        )

    @property
    def thread(self) -> Thread:
        return self.runtime.thread

    async def on_new(self, request: AppendRequest) -> None:
        self.items = [*self.items, self.item(request)]
        await self.answer(message_text(request.message))

    async def on_edit(self, request: AppendRequest) -> None:
        self.items = [*self.above(request.parent_id), self.item(request)]
        await self.answer(message_text(request.message))

    async def on_reload(self, request: RunRequest) -> None:
        self.items = self.above(request.parent_id)
        await self.answer(self.items[-1]["content"] if self.items else "")

    def on_cancel(self) -> None:
        if self.scope is not None:
            self.scope.cancel()

    def set_messages(self, messages: Any) -> None:
        self.items = list(messages)
        self.runtime.update(self.items)

    def above(self, parent_id: str | None) -> list[dict[str, Any]]:
        ids = [item["id"] for item in self.items]
        return self.items[: ids.index(parent_id) + 1] if parent_id in ids else []

    def item(self, request: AppendRequest) -> dict[str, Any]:
        return {"id": request.message.id, "role": "user", "content": message_text(request.message)}

    async def answer(self, question: str) -> None:
        self.runtime.update(self.items, is_running=True)
        answer = {"id": new_id(), "role": "assistant", "content": ""}
        stream = self.script.pieces(question)
        with anyio.CancelScope() as self.scope:
            async for piece in stream:
                answer = {**answer, "content": answer["content"] + piece}
                self.items = [*[item for item in self.items if item["id"] != answer["id"]], answer]
                self.runtime.update(self.items, is_running=True)
        await stream.aclose()
        if self.scope.cancelled_caught:
            # It is the owner who knows that the answer is not whole.
            answer = {**answer, "status": {"type": "incomplete", "reason": "cancelled"}}
            self.items = [*self.items[:-1], answer]
        self.runtime.update(self.items, is_running=False)

    async def __aenter__(self) -> Self:
        await self.runtime.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self.runtime.__aexit__(kind, error, traceback)
