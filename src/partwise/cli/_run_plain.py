"""Running the plain chat over the process's own streams."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from typing import TextIO

import anyio

from partwise.store import ThreadEvent

from ._engine import Answering
from ._options import ChatOptions
from ._plain import LineSource, Output, PlainChat, descriptor_lines
from ._session import load, open_runtime

__all__ = ["run_plain", "talk"]

INTERRUPTED = 130


async def run_plain(options: ChatOptions, engine: Answering) -> int:
    """Chat over stdin and stdout; returns the exit code."""
    # A stream that was closed before the start is None.
    lines = descriptor_lines(-1 if sys.stdin is None else sys.stdin.fileno())
    writes_to_terminal = sys.stdout is not None and sys.stdout.isatty()
    output = Output(io.StringIO() if sys.stdout is None else sys.stdout, is_terminal=writes_to_terminal)
    with contextlib.closing(lines):
        code = await talk(
            options,
            engine,
            lines,
            output,
            io.StringIO() if sys.stderr is None else sys.stderr,
            is_terminal=writes_to_terminal and sys.stdin is not None and sys.stdin.isatty(),
            handles_signals=sys.platform != "win32",
        )
    if output.broken.is_set():
        _forget_stdout()
    if output.failure is not None:
        print(f"partwise: error: cannot write the answer: {output.failure.strerror}", file=sys.stderr)
        return 1
    return code


async def talk(
    options: ChatOptions,
    engine: Answering,
    lines: LineSource,
    output: Output,
    errors: TextIO,
    *,
    is_terminal: bool = False,
    handles_signals: bool = False,
) -> int:
    """Chat over any lines; returns the exit code.

    Args:
        options: What was asked for.
        engine: What answers.
        lines: Prompts, commands and answers.
        output: Where answers go.
        errors: Where failures beside the conversation go.
        is_terminal: Whether somebody sits there who wants prompts and the thread so far.
        handles_signals: Whether an interrupt cancels the answer, and a second one ends the chat.
    """
    async with open_runtime(options, engine) as runtime:
        thread = runtime.thread
        thread.events.subscribe(lambda event: _tell(event, errors))
        if not await load(thread, errors):
            return 1
        chat = PlainChat(
            thread,
            lines,
            output,
            prompt="> " if is_terminal else "",
            echoes=not is_terminal,
            first=f"(replay of {options.replay.name})" if options.replay is not None else None,
        )
        if is_terminal:
            output.line(f"partwise chat · {engine.title} · /help lists commands, /quit ends")
        if is_terminal or options.shows_history:
            chat.show_history()
        for path in options.attached:
            await chat.attach(path)
        was_interrupted = await _converse(chat, output, resumes=is_terminal, handles_signals=handles_signals)
    # By now all is stored that could be.
    if thread.unsaved:
        count = len(thread.unsaved)
        what = "1 message is" if count == 1 else f"{count} messages are"
        print(f"partwise: error: {what} shown above, but not stored in {options.database}", file=errors)
    if was_interrupted:
        return INTERRUPTED
    return 1 if thread.unsaved or (chat.has_failed and options.replay is None) else 0


async def _converse(chat: PlainChat, output: Output, *, resumes: bool, handles_signals: bool) -> bool:
    """Run the chat until it ends, the reader goes, or somebody interrupts; returns whether somebody did."""
    was_interrupted = False
    async with anyio.create_task_group() as tasks:

        async def watch_reader() -> None:
            await output.broken.wait()
            tasks.cancel_scope.cancel()

        async def watch_signals() -> None:
            nonlocal was_interrupted
            with anyio.open_signal_receiver(signal.SIGINT) as received:
                async for _ in received:
                    if not chat.interrupt():
                        was_interrupted = True
                        tasks.cancel_scope.cancel()
                        return

        tasks.start_soon(watch_reader)
        if handles_signals:
            tasks.start_soon(watch_signals)
        if resumes:
            await chat.resume()
        await chat.run()
        tasks.cancel_scope.cancel()
    return was_interrupted


def _tell(event: ThreadEvent, errors: TextIO) -> None:
    """Say on stderr what went wrong beside the conversation."""
    if event.type == "persistence_failed" and event.operation != "load":
        print(f"partwise: the history could not {event.operation}: {event.error}", file=errors)
    elif event.type == "report":
        print(f"partwise: {event.where}: {event.text}", file=errors)


def _forget_stdout() -> None:
    """Keep the interpreter from writing the rest into the closed pipe once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
