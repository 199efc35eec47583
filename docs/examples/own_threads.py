"""Plug in a program that has several conversations: it says which there are, and brings one into view when asked."""

import anyio

from partwise.messages import message_text
from partwise.runtimes import AppendRequest, ExternalStoreRuntime, ExternalThreads
from partwise.store import ThreadRow


class Notebook:
    """Somebody else's program: pages with lines on them, one of which is open."""

    def __init__(self) -> None:
        self.pages = {"trip": ["Pack the tent"], "taxes": ["Find the receipts"]}
        self.open = "trip"

    def threads(self) -> ExternalThreads:
        """Say which pages there are, and what can be done with them."""
        rows = [ThreadRow(id=page, title=f"{page} ({len(lines)})") for page, lines in self.pages.items()]
        return ExternalThreads(current_id=self.open, regular=rows, on_switch_to=self.switch, on_delete=self.delete)

    def switch(self, page: str) -> None:
        """Open another page."""
        self.open = page
        self.show()

    def delete(self, page: str) -> None:
        """Tear a page out."""
        del self.pages[page]
        self.show()

    def write(self, request: AppendRequest) -> None:
        """Write a line on the open page."""
        self.pages[self.open] = [*self.pages[self.open], message_text(request.message)]
        self.show()

    def show(self) -> None:
        """Tell what there is now."""
        self.runtime.update(self.pages[self.open], threads=self.threads())

    def connect(self) -> ExternalStoreRuntime:
        """Make the runtime that shows the notebook."""
        self.runtime = ExternalStoreRuntime(self.pages[self.open], threads=self.threads(), on_new=self.write)
        return self.runtime


async def main() -> None:
    """Move between pages, and print what a user interface would show."""
    async with Notebook().connect() as runtime:
        threads = runtime.threads
        threads.select(lambda state: [row.title for row in state.rows]).subscribe(lambda titles: print("list:", titles))
        threads.follow(lambda thread: thread.select(lambda state: state.messages)).subscribe(
            lambda messages: print(threads.state.main_id, [message_text(message) for message in messages])
        )

        await threads.switch_to("taxes")
        await runtime.thread.append("Ring the office")
        await threads.delete("trip")


anyio.run(main)
