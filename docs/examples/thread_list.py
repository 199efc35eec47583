"""Two conversations at once: one goes on in the background while the other is in view."""

from collections.abc import AsyncIterator

import anyio

import partwise as pw
from partwise.persistence import MemoryThreadList, simple_title
from partwise.runtimes import ThreadItem, ThreadListRuntime
from partwise.store import ThreadListState

stored = MemoryThreadList(title=simple_title)  # or SqliteThreadList("chat.sqlite3", title=simple_title)
may_go_on = anyio.Event()


async def model(run: pw.RunContext) -> AsyncIterator[pw.Chunk]:
    """A chat model: here a script that takes its time over tides."""
    question = pw.message_text(run.messages[-1])
    if "tides" in question:
        await may_go_on.wait()
    yield pw.TextDelta(f"You asked: {question}")


def open_thread(item: ThreadItem) -> pw.LocalRuntime:
    """Make the runtime of a thread: any runtime, here one that keeps its messages beside the list."""
    return pw.LocalRuntime(model, history=stored.history(item.id), initialize=item.initialize, thread_id=item.id)


def rows(state: ThreadListState) -> str:
    """The list as a sidebar would show it."""
    marks = {True: "*", False: " "}
    shown = [f"{marks[row.id == state.main_id]}{row.title or 'New chat'}" for row in state.rows]
    running = [row.title for row in state.rows if row.is_running]
    return f"{', '.join(shown)}; running: {running}"


async def main() -> None:
    """Ask in one thread, go to another, ask there, and come back."""
    async with ThreadListRuntime(open_thread, stored) as threads:
        await threads.load()
        tides = threads.main.append("Tell me of tides")
        first_id = threads.state.main_id or ""
        await anyio.wait_all_tasks_blocked()  # a user interface would just show what comes
        print(rows(threads.state))

        await threads.switch_to_new()
        await threads.main.append("And of the moon")
        print(rows(threads.state))

        may_go_on.set()
        await tides
        print("unread:", threads.row(first_id).value.is_unread)

        await threads.rename(first_id, "Tides")
        await threads.switch_to(first_id)
        print(rows(threads.state))
        print(pw.message_text(threads.main.state.messages[-1]))
        await threads.delete(first_id)
        print(rows(threads.state))


if __name__ == "__main__":
    anyio.run(main)
