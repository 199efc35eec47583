"""The threads beside the conversation, on a screen without a terminal."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import anyio
import attrs
import pytest
from textual.widgets import Input

from partwise.adapters import HistoryItem, RunContext
from partwise.cli._app import ChatApp
from partwise.cli._app._sidebar import ThreadLine
from partwise.cli._engine import Answering
from partwise.cli._options import ChatOptions
from partwise.cli._session import open_threads
from partwise.persistence import SqliteHistory, _schema
from partwise.persistence._rows import message_text
from partwise.runtimes import ThreadListRuntime
from partwise.stream import Chunk, TextDelta
from tests.cli.chatting import scripted
from tests.cli.screens import Screen
from tests.persistence.conversations import chain, user

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])


@attrs.frozen
class Desk(Screen):
    threads: ThreadListRuntime

    @property
    def lines(self) -> list[str]:
        """The sidebar, line by line; the one in view has a star."""
        assert self.app.sidebar is not None
        return [
            f"{str(line.render()).rstrip()}{'*' if line.has_class('main') else ''}" for line in self.app.sidebar.lines
        ]

    def line(self, text: str) -> ThreadLine:
        assert self.app.sidebar is not None
        return next(line for line in self.app.sidebar.lines if text in str(line.render()))

    async def has_lines(self, *lines: str) -> None:
        try:
            await self.until(lambda: self.lines == list(lines))
        except AssertionError:
            raise AssertionError(self.lines) from None

    async def go_to(self, text: str) -> None:
        self.line(text).focus()
        await self.pilot.pause()


@asynccontextmanager
async def desk(
    engine: Answering, *, database: Path | None = None, size: tuple[int, int] = (120, 40), thread_id: str = "default"
) -> AsyncGenerator[Desk]:
    errors = io.StringIO()
    async with open_threads(ChatOptions(database=database, thread_id=thread_id), engine, errors) as threads:
        assert threads is not None, errors.getvalue()
        await threads.main.load()
        await threads.load()
        app = ChatApp(threads.main, threads=threads, title=engine.title)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield Desk(app, pilot, threads.main, threads)


async def echo(run: RunContext) -> AsyncGenerator[Chunk, None]:
    yield TextDelta(f"answer to {message_of(run)}")


def message_of(run: RunContext) -> str:
    return "".join(part.text for part in run.messages[-1].content if part.type == "text")


def echoing() -> Answering:
    return scripted(echo)


async def fill(database: Path, *names: str) -> None:
    for name in names:
        async with SqliteHistory(database, name) as history:
            for item in chain(f"u-{name}"):
                await history.append(HistoryItem(parent_id=None, message=user(item.message.id, f"question of {name}")))


async def test_the_first_question_gives_the_thread_its_line_and_its_title(tmp_path: Path) -> None:
    async with desk(echoing(), database=tmp_path / "chat.db") as shown:
        await shown.has_lines("  New chat*")
        await shown.say("hello there")
        await shown.shows("answer to hello there")
        await shown.has_lines("  hello there*")


async def test_a_new_chat_has_its_own_conversation_and_draft(tmp_path: Path) -> None:
    async with desk(echoing(), database=tmp_path / "chat.db") as shown:
        await shown.say("one")
        await shown.shows("answer to one")
        await shown.type("unsent")
        await shown.pilot.press("ctrl+n")
        await shown.has_lines("  New chat*", "  one")
        assert "answer to one" not in shown.text
        assert shown.app.composer.text == ""
        await shown.say("two")
        await shown.has_lines("  two*", "  one")

        await shown.go_to("one")
        await shown.pilot.press("enter")
        await shown.has_lines("  two", "  one*")
        await shown.shows("answer to one")
        await shown.until(lambda: shown.app.composer.text == "unsent")
        assert "answer to two" not in shown.text
        assert shown.app.focused is shown.app.composer


async def test_a_running_thread_is_marked_and_goes_on_in_the_background(tmp_path: Path) -> None:
    gate = anyio.Event()

    async def slow(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("first half")
        await gate.wait()
        yield TextDelta(", second half")

    async with desk(scripted(slow), database=tmp_path / "chat.db") as shown:
        await shown.say("go")
        await shown.has_lines("● go*")
        await shown.pilot.press("ctrl+n")
        await shown.has_lines("  New chat*", "● go")
        gate.set()
        await shown.has_lines("  New chat*", "• go")

        await shown.go_to("go")
        await shown.pilot.press("enter")
        await shown.has_lines("  New chat", "  go*")
        await shown.shows("first half, second half")


async def test_a_thread_is_renamed_in_place_and_escape_leaves_it(tmp_path: Path) -> None:
    database = tmp_path / "chat.db"
    async with desk(echoing(), database=database) as shown:
        await shown.say("one")
        await shown.has_lines("  one*")
        await shown.go_to("one")
        await shown.pilot.press("r", "escape")
        await shown.until(lambda: not shown.app.query(Input))
        await shown.pilot.press("r")
        await shown.until(lambda: shown.app.query(Input))
        shown.app.query_one(Input).value = "another name"
        await shown.pilot.press("enter")
        await shown.has_lines("  another name*")
        assert isinstance(shown.app.focused, ThreadLine)
    async with desk(echoing(), database=database) as again:
        await again.has_lines("  another name*")
        await again.shows("answer to one")


async def test_an_archived_thread_goes_to_the_end_and_comes_back(tmp_path: Path) -> None:
    database = tmp_path / "chat.db"
    await fill(database, "a", "b")
    async with desk(echoing(), database=database, thread_id="a") as shown:
        await shown.has_lines("  Untitled", "  Untitled*")
        await shown.threads.rename("a", "A")
        await shown.threads.rename("b", "B")
        await shown.has_lines("  B", "  A*")
        await shown.go_to("B")
        await shown.pilot.press("a")
        await shown.has_lines("  A*", "  B")
        assert shown.line("B").has_class("archived")
        await shown.go_to("B")
        await shown.pilot.press("a")
        await shown.has_lines("  B", "  A*")
        assert not shown.line("B").has_class("archived")


async def test_a_thread_is_deleted_at_the_second_press_only(tmp_path: Path) -> None:
    database = tmp_path / "chat.db"
    await fill(database, "a", "b")
    async with desk(echoing(), database=database, thread_id="a") as shown:
        await shown.threads.rename("a", "A")
        await shown.threads.rename("b", "B")
        await shown.go_to("A")
        await shown.pilot.press("d")
        await shown.has_lines("  B", "delete? press d again*")
        await shown.pilot.press("up")
        await shown.has_lines("  B", "  A*")
        await shown.go_to("A")
        await shown.pilot.press("d", "d")
        await shown.has_lines("  New chat*", "  B")
        assert "question of a" not in shown.text
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT thread_id FROM messages").fetchall() == [("b",)]


async def test_the_chat_goes_on_with_the_thread_of_the_newest_message(tmp_path: Path) -> None:
    database = tmp_path / "chat.db"
    await fill(database, "a", "default", "b")
    async with desk(echoing(), database=database) as shown:
        await shown.shows("question of b")
        assert len(shown.lines) == 3
    async with desk(echoing(), database=database, thread_id="a") as shown:
        await shown.shows("question of a")


async def test_a_database_from_before_there_were_lists_opens_as_it_was(tmp_path: Path) -> None:
    database = tmp_path / "chat.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        _schema._create(connection)
        connection.execute("PRAGMA user_version = 1")
        connection.execute("INSERT INTO threads (id, head_id) VALUES ('default', 'u1')")
        values = ("default", "u1", None, 1, 1, message_text(user("u1", "from long ago")), "{}")
        connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    async with desk(echoing(), database=database) as shown:
        await shown.shows("from long ago")
        await shown.has_lines("  Untitled*")
        await shown.say("hello")
        await shown.shows("answer to hello")


async def test_a_thread_of_another_name_begins_empty_and_is_kept_under_it(tmp_path: Path) -> None:
    database = tmp_path / "chat.db"
    async with desk(echoing(), database=database, thread_id="mine") as shown:
        await shown.say("hello")
        await shown.shows("answer to hello")
        await shown.settled()
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT id, title FROM threads").fetchall() == [("mine", "hello")]


async def test_without_a_history_there_are_threads_until_the_end() -> None:
    async with desk(echoing()) as shown:
        await shown.say("one")
        await shown.has_lines("  one*")
        await shown.pilot.press("ctrl+n")
        await shown.has_lines("  New chat*", "  one")


async def test_on_a_narrow_screen_the_threads_come_with_a_key_and_go_with_it() -> None:
    async with desk(echoing(), size=(80, 24)) as shown:
        assert shown.app.sidebar is not None
        assert not shown.app.sidebar.display
        await shown.pilot.press("f3")
        await shown.until(lambda: shown.app.sidebar is not None and shown.app.sidebar.display)
        assert isinstance(shown.app.focused, ThreadLine)
        await shown.pilot.press("f3")
        await shown.until(lambda: shown.app.sidebar is not None and not shown.app.sidebar.display)
        assert shown.app.focused is shown.app.composer


async def test_a_file_that_is_no_history_says_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "chat.db").write_text("no database")
    errors = io.StringIO()
    async with open_threads(ChatOptions(database=tmp_path / "chat.db"), echoing(), errors) as threads:
        assert threads is None
    assert errors.getvalue().count("\n") == 1
    assert errors.getvalue().startswith("partwise: error: ")
    assert "name another file with --db" in errors.getvalue()
