"""A chat with one tool, and three things that a user interface would watch."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio

import partwise as pw

tools = pw.Toolkit()


@tools.frontend
def line_count(path: str) -> int:
    """Count the lines of a text file.

    Args:
        path: The file.
    """
    return len(Path(path).read_text(encoding="utf-8").splitlines())


async def model(run: pw.RunContext) -> AsyncIterator[pw.Chunk]:
    """A chat model: here a script, in your program the stream of a language model."""
    if not run.message.content:
        yield pw.TextDelta("Let me look. ")
        yield pw.ToolCallStart("call-1", "line_count")
        yield pw.ToolArgsDelta("call-1", '{"path": ')
        yield pw.ToolArgsDelta("call-1", f'"{Path(__file__).as_posix()}"}}')
    else:
        (call,) = [part for part in run.message.content if isinstance(part, pw.ToolCallPart)]
        for word in f"It has {call.result} lines.".split():
            yield pw.TextDelta(word + " ")


def answer_status(state: pw.ThreadState) -> str:
    """How far the last answer has come."""
    last = state.messages[-1] if state.messages else None
    return last.status.type if isinstance(last, pw.AssistantMessage) else "none"


async def main() -> None:
    """Ask once, and print what three listeners hear."""
    async with pw.LocalRuntime(model, tools=tools) as runtime:
        thread = runtime.thread
        thread.select(lambda s: s.is_running).subscribe(lambda running: print("running:", running))
        thread.select(answer_status).subscribe(lambda status: print("answer:", status))
        await thread.append("How long is this file?")

        print("text:", pw.message_text(thread.state.messages[-1]))


if __name__ == "__main__":
    anyio.run(main)
