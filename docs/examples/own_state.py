"""Plug in your own state: an agent keeps its notes, partwise shows them and asks the agent for everything."""

from collections.abc import Callable

import anyio

from partwise.messages import message_text
from partwise.runtimes import AppendRequest, ExternalStoreRuntime


class Agent:
    """Somebody else's program, with messages of its own kind."""

    def __init__(self) -> None:
        self.notes: list[dict[str, str]] = []
        self.on_change: Callable[[bool], None] = print

    async def send(self, request: AppendRequest) -> None:
        """Answer word by word, and tell of each change."""
        question = message_text(request.message)
        self.notes = [*self.notes, {"key": f"n{len(self.notes)}", "by": "user", "says": question}]
        self.on_change(True)
        answer = {"key": f"n{len(self.notes)}", "by": "agent", "says": ""}
        for word in ("You", " said ", question):
            answer = {**answer, "says": answer["says"] + word}
            self.notes = [*[note for note in self.notes if note["key"] != answer["key"]], answer]
            self.on_change(True)
            await anyio.lowlevel.checkpoint()
        self.on_change(False)


def to_message(note: dict[str, str]) -> dict[str, object]:
    """Say in partwise's words what one note is."""
    role = "user" if note["by"] == "user" else "assistant"
    return {"id": note["key"], "role": role, "content": note["says"]}


async def main() -> None:
    """Ask the agent something, and print what a user interface would show."""
    agent = Agent()
    async with ExternalStoreRuntime(agent.notes, convert=to_message, on_new=agent.send) as runtime:

        def changed(busy: bool) -> None:
            runtime.update(agent.notes, is_running=busy)

        agent.on_change = changed
        thread = runtime.thread
        thread.select(lambda state: [(message.role, message_text(message)) for message in state.messages]).subscribe(
            print
        )

        await thread.append("hello")

        print(thread.state.messages[-1].status.type, sorted(thread.capabilities))


anyio.run(main)
