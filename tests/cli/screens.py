"""The terminal chat without a terminal."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
from textual.pilot import Pilot

from partwise.cli._app import ChatApp
from partwise.cli._app._message import MessageBlock
from partwise.cli._app._tool_card import ToolCard
from partwise.cli._engine import Answering
from partwise.cli._options import ChatOptions
from partwise.cli._session import open_runtime
from partwise.runtimes import LocalThread


@attrs.frozen
class Screen:
    app: ChatApp
    pilot: Pilot[None]
    thread: LocalThread

    @property
    def rows(self) -> list[str]:
        """What is on the screen, row by row."""
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]

    @property
    def text(self) -> str:
        return "\n".join(self.rows)

    @property
    def blocks(self) -> list[MessageBlock]:
        return self.app.conversation.blocks

    @property
    def card(self) -> ToolCard:
        return list(self.app.query(ToolCard))[-1]

    async def until(self, is_so: Callable[[], object]) -> None:
        """Let the app work until something is so; at most some seconds."""
        for _ in range(1000):
            await self.pilot.pause(0.01)
            if is_so():
                return
        raise AssertionError(self.text)

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.text)

    async def type(self, text: str) -> None:
        await self.pilot.press(*("space" if letter == " " else letter for letter in text))

    async def say(self, text: str) -> None:
        """Paste a text and send it."""
        self.app.composer.text = text
        await self.pilot.press("enter")

    async def settled(self) -> None:
        await self.until(lambda: self.thread.state.messages and not self.thread.state.is_running)


@asynccontextmanager
async def screen(
    engine: Answering, *, database: Path | None = None, size: tuple[int, int] = (90, 40), **more: Any
) -> AsyncGenerator[Screen]:
    async with open_runtime(ChatOptions(database=database), engine) as runtime:
        await runtime.thread.load()
        app = ChatApp(runtime.thread, title=engine.title, **more)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield Screen(app, pilot, runtime.thread)
