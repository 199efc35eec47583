"""A recorded answer, through the provider's SDK and the code that reads live ones, into a thread."""

from pathlib import Path

import anyio

import partwise as pw
from partwise.messages import AssistantPart, ReasoningPart, TextPart, ToolCallPart, UrlSourcePart
from partwise.providers.replay import replay

RECORDING = Path(__file__).with_name("recorded.sse")


def shown(part: AssistantPart) -> str:
    """One part in one line."""
    match part:
        case TextPart() | ReasoningPart():
            return f"{part.type}: {part.text}"
        case ToolCallPart():
            return f"tool-call: {part.tool_name} {part.args_text}{' (answered)' if part.has_result else ''}"
        case UrlSourcePart():
            return f"source: {part.title} {part.url}"
        case _:
            return part.type


async def main() -> None:
    """Ask; the recording answers."""
    model = replay(RECORDING)  # in a program: AnthropicMessages(model=..., api_key=...)
    async with pw.LocalRuntime(model) as runtime:
        await runtime.thread.append("How many lines do the files have?")
        message = runtime.thread.state.messages[-1]
    if isinstance(message, pw.AssistantMessage):
        print("\n".join(shown(part) for part in message.content))
        print("status:", message.status.type)


if __name__ == "__main__":
    anyio.run(main)
