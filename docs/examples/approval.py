"""A tool that needs permission: the run waits, the answer is given, the run goes on."""

from collections.abc import AsyncIterator

import anyio

import partwise as pw

tools = pw.Toolkit()
sent: list[str] = []


@tools.frontend(needs_approval=True)
async def send_mail(to: str) -> str:
    """Send a mail."""
    sent.append(to)
    return "sent"


async def model(run: pw.RunContext) -> AsyncIterator[pw.Chunk]:
    """Calls the tool, then says how it went."""
    if not run.message.content:
        yield pw.ToolCallStart("call-1", "send_mail")
        yield pw.ToolArgsDelta("call-1", '{"to": "ada"}')
    else:
        (call,) = [part for part in run.message.content if isinstance(part, pw.ToolCallPart)]
        yield pw.TextDelta(f"The tool said: {call.result}")


def open_approvals(state: pw.ThreadState) -> list[str]:
    """The permissions that the last message waits for."""
    calls = [part for part in state.messages[-1].content if isinstance(part, pw.ToolCallPart)]
    return [call.approval.id for call in calls if call.approval is not None and call.approval.is_open]


async def main() -> None:
    """Ask, look at what is open, permit it, and look again."""
    async with pw.LocalRuntime(model, tools=tools) as runtime:
        thread = runtime.thread
        await thread.append("Write to Ada")
        for approval_id in open_approvals(thread.state):
            print("asked; sent so far:", sent)
            await thread.respond_to_approval(approval_id, approved=True)
        print(pw.message_text(thread.state.messages[-1]), "- sent:", sent)


if __name__ == "__main__":
    anyio.run(main)
