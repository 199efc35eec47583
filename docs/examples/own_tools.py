"""Tools of your program in somebody else's conversation: an agent elsewhere calls them, they run here."""

from typing import Any

import anyio

import partwise as pw
from partwise.messages import ToolCallPart
from partwise.runtimes import AppendRequest, ExternalStoreRuntime, ToolOutput

tools = pw.Toolkit()


@tools.frontend
async def lines_of(path: str) -> int:
    """Count the lines of a file that only this program can see."""
    return {"notes.txt": 12}[path]


class Agent:
    """Somebody else's program; it calls a tool that it does not have."""

    runtime: ExternalStoreRuntime

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.results: dict[str, Any] = {}

    def send(self, request: AppendRequest) -> None:
        """Answer with a call, whose arguments come in two pieces."""
        self.messages = [{"id": "u1", "role": "user", "content": "How long are my notes?"}]
        for text in ('{"path": "no', '{"path": "notes.txt"}'):
            self.show(text)

    def take(self, output: ToolOutput) -> None:
        """Go on with what the tool said."""
        self.results[output.tool_call_id] = output.result
        self.show('{"path": "notes.txt"}', f"They have {output.result} lines.")

    def show(self, args: str, text: str = "") -> None:
        """Tell what there is now."""
        call = {"type": "tool-call", "tool_call_id": "c1", "tool_name": "lines_of", "args_text": args}
        if "c1" in self.results:
            call["result"] = self.results["c1"]
        answer = {"id": "a1", "role": "assistant", "content": [call, *([text] if text else [])]}
        self.runtime.update([*self.messages, answer])


async def main() -> None:
    """Ask, and print the answer as it comes."""
    agent = Agent()
    agent.runtime = ExternalStoreRuntime(on_new=agent.send, tools=[tools], runs_tools=True, on_tool_result=agent.take)
    async with agent.runtime as runtime:
        done = anyio.Event()

        def show(answer: object) -> None:
            if not isinstance(answer, pw.AssistantMessage):
                return
            for part in answer.content:
                if isinstance(part, ToolCallPart):
                    print("calls", part.tool_name, part.args_text)
                elif isinstance(part, pw.TextPart):
                    print(part.text)
            if answer.status.type == "complete":
                done.set()

        runtime.thread.select(lambda state: state.messages.get("a1")).subscribe(show)
        await runtime.thread.append("How long are my notes?")
        await done.wait()


anyio.run(main)
