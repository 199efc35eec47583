"""Plug in another process: an agent that writes JSON lines; partwise shows them and asks it for everything."""

import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import anyio
from anyio.abc import Process

from partwise.messages import message_text
from partwise.runtimes import AppendRequest, ExternalSnapshot, ExternalStoreRuntime

AGENT = """
import json, sys
for number, line in enumerate(sys.stdin):
    question = {"id": f"q{number}", "role": "user", "content": json.loads(line)}
    print(json.dumps({"busy": True, "message": question}), flush=True)
    said = ""
    for word in ("You", " said ", question["content"]):
        said += word
        answer = {"id": f"a{number}", "role": "assistant", "content": said}
        print(json.dumps({"busy": True, "message": answer}), flush=True)
    print(json.dumps({"busy": False}), flush=True)
"""


class Agent:
    """Speaks with the other program."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.is_done = anyio.Event()

    async def send(self, request: AppendRequest) -> None:
        """Hand a question over, and wait until the other program is done with it."""
        assert self.process.stdin is not None
        self.is_done = anyio.Event()
        await self.process.stdin.send(json.dumps(message_text(request.message)).encode() + b"\n")
        await self.is_done.wait()

    async def snapshots(self) -> AsyncIterator[ExternalSnapshot]:
        """Read its lines, and say after each what there is."""
        assert self.process.stdout is not None
        messages, rest = dict[str, Any](), b""
        async for piece in self.process.stdout:
            *lines, rest = (rest + piece).split(b"\n")
            for event in map(json.loads, lines):
                if "message" in event:
                    messages[event["message"]["id"]] = event["message"]
                yield ExternalSnapshot(list(messages.values()), is_running=event["busy"])
                if not event["busy"]:
                    self.is_done.set()


async def main() -> None:
    """Ask twice, and print what a user interface would show."""
    async with await anyio.open_process([sys.executable, "-c", AGENT], stderr=None) as process:
        agent = Agent(process)
        async with ExternalStoreRuntime(agent.snapshots(), on_new=agent.send) as runtime:
            thread = runtime.thread
            await thread.append("hello")
            await thread.append("bye")
            print([f"{one.role}: {message_text(one)}" for one in thread.state.messages])
            print(thread.state.messages[-1].status.type, sorted(thread.capabilities))
        process.terminate()


anyio.run(main)
