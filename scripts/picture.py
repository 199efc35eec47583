"""Draw the picture of the terminal chat for the README: the real app, the rules as its engine, no terminal."""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import anyio
from textual.pilot import Pilot

from partwise.adapters import RunContext
from partwise.cli._app import ChatApp
from partwise.cli._rules import folder_tools, rules_model
from partwise.runtimes import LocalRuntime
from partwise.stream import Chunk

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "chat.svg"
README = "".join(f"line {number}\n" for number in range(1, 43))
QUESTIONS = ("count the words in README.md", "count the lines in README.md")
REQUEST = 'write "README.md has 42 lines" to notes.txt'


async def quick(run: RunContext) -> AsyncGenerator[Chunk, None]:
    """Answer by the rules, without waiting."""
    async for chunk in rules_model(run, delay=0):
        yield chunk


async def until(pilot: Pilot[None], is_so: Callable[[], bool]) -> None:
    """Let the app work until something is so."""
    with anyio.fail_after(20):
        while not is_so():
            await pilot.pause(0.02)


async def draw() -> str:
    """Chat, and return the screen as SVG: a branch picker, the card of a call that ran, and one that asks."""
    with tempfile.TemporaryDirectory() as root:
        await anyio.Path(root, "README.md").write_text(README)
        async with LocalRuntime(quick, tools=folder_tools(root)) as runtime:
            thread = runtime.thread
            await thread.append(QUESTIONS[0])
            composer = thread.begin_edit(thread.state.messages[0].id)
            composer.set_text(QUESTIONS[1])
            await composer.send()
            app = ChatApp(thread, title="rules, not a language model")
            async with app.run_test(size=(84, 36)) as pilot:
                thread.composer.set_text(REQUEST)
                await until(pilot, lambda: app.composer.text == REQUEST)
                await pilot.press("enter")
                await until(pilot, lambda: app.focused is not None and app.focused.has_class("asking"))
                await until(pilot, lambda: not thread.state.is_running and app.composer.border_title is None)
                app.composer.cursor_blink = False
                await pilot.pause(0.3)
                return app.export_screenshot(title="partwise chat")


def plain(svg: str) -> str:
    """Take out what differs from run to run or is fetched from elsewhere: ids, and a font that is not there."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    names = dict.fromkeys(re.findall(r"terminal-(\d+)", svg))
    for name in names:
        svg = svg.replace(f"terminal-{name}", "terminal-chat")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def main() -> None:
    """Draw the picture into its file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="?", type=Path, default=TARGET, help="default: docs/images/chat.svg")
    target: Path = parser.parse_args().target
    svg = plain(anyio.run(draw))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(svg, encoding="utf-8")
    print(f"{target}: {len(svg):,} bytes")


if __name__ == "__main__":
    main()
