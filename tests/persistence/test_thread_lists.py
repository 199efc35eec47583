"""What every thread list of this room does, in memory or in a file, and what a file adds."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

from partwise.adapters import HistoryItem, StoredThread, TitleFunction
from partwise.errors import HistoryError, ThreadListError, ThreadNotFoundError
from partwise.messages import Message
from partwise.persistence import (
    MemoryThreadList,
    SqliteFile,
    SqliteHistory,
    SqliteThreadList,
    _schema,
    simple_title,
)
from partwise.persistence._rows import message_text
from tests.persistence.conversations import chain, tree, user
from tests.persistence.histories import Reports, query

AnyList = MemoryThreadList | SqliteThreadList
Open = Callable[..., AnyList]


@pytest.fixture(params=["memory", "sqlite"])
async def open_list(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    """Lists over the same threads; the file is closed at the end."""
    opened: list[SqliteThreadList] = []

    def open_one(**options: Any) -> AnyList:
        if request.param == "memory":
            return MemoryThreadList(**options)
        made = SqliteThreadList(tmp_path / "chat.db", report=lambda problem: pytest.fail(str(problem)), **options)
        opened.append(made)
        return made

    yield open_one
    for one in opened:
        await one.aclose()


async def rows(threads: AnyList) -> list[tuple[str, str, str | None]]:
    return [(one.id, one.status, one.title) for one in (await threads.list()).threads]


async def test_an_empty_list_has_no_threads_and_no_next_page(open_list: Open) -> None:
    page = await open_list().list()

    assert (page.threads, page.cursor) == ((), None)


async def test_a_new_thread_keeps_its_id_and_is_made_once(open_list: Open) -> None:
    threads = open_list()

    ids = [await threads.initialize("t1"), await threads.initialize("t1")]

    assert [one.id for one in ids] == ["t1", "t1"]
    assert await rows(threads) == [("t1", "regular", None)]


async def test_every_change_is_there_when_the_thread_is_fetched(open_list: Open) -> None:
    threads = open_list()
    await threads.initialize("t1")
    await threads.rename("t1", "Tides")
    await threads.archive("t1")
    await threads.update_custom("t1", {"pinned": True, "tags": ["a"]})

    fetched = await threads.fetch("t1")

    assert (fetched.title, fetched.status) == ("Tides", "archived")
    assert fetched.custom == {"pinned": True, "tags": ["a"]}
    await threads.unarchive("t1")
    assert (await threads.fetch("t1")).status == "regular"


async def test_pages_hold_every_thread_once_and_the_last_has_no_cursor(open_list: Open) -> None:
    threads = open_list(page_size=2)
    for number in range(5):
        await threads.initialize(f"t{number}")

    found: list[list[str]] = []
    cursor: str | None = None
    while True:
        page = await threads.list(cursor)
        found.append([one.id for one in page.threads])
        cursor = page.cursor
        if cursor is None:
            break

    assert found == [["t4", "t3"], ["t2", "t1"], ["t0"]]


@pytest.mark.parametrize("gone", ["t4", "t3", "t2", "t1"])
@pytest.mark.parametrize("change", ["delete", "archive", "rename", "initialize"])
async def test_what_changes_between_two_pages_makes_the_second_neither_begin_anew_nor_leave_others_out(
    open_list: Open, gone: str, change: str
) -> None:
    threads = open_list(page_size=2)
    for number in range(5):
        await threads.initialize(f"t{number}")
    first = await threads.list()
    name = "new" if change == "initialize" else gone
    await getattr(threads, change)(name, *(["x"] if change == "rename" else []))

    found = [one.id for one in first.threads]
    cursor = first.cursor
    while cursor is not None:
        page = await threads.list(cursor)
        found += [one.id for one in page.threads]
        cursor = page.cursor

    left_out = {gone} if change == "delete" and gone not in {"t4", "t3"} else set[str]()
    assert found == [id for id in ("t4", "t3", "t2", "t1", "t0") if id not in left_out]


async def test_a_place_that_a_deleted_thread_had_is_given_to_no_other(open_list: Open) -> None:
    threads = open_list(page_size=1)
    for name in ("t0", "t1"):
        await threads.initialize(name)
    cursor = (await threads.list()).cursor
    await threads.delete("t1")
    await threads.initialize("t2")

    assert [one.id for one in (await threads.list(cursor)).threads] == ["t0"]


async def test_deleting_takes_the_messages_along_and_may_be_repeated(open_list: Open) -> None:
    threads = open_list()
    for name in ("t1", "t2"):
        await threads.initialize(name)
        for one in chain("u1", "a1"):
            await threads.history(name).append(one)

    await threads.delete("t1")
    await threads.delete("t1")

    assert [name for name, _, _ in await rows(threads)] == ["t2"]
    assert await threads.history("t1").load() is None
    assert tree(await threads.history("t2").load()) == {"u1": None, "a1": "u1"}


@pytest.mark.parametrize("change", ["rename", "archive", "unarchive", "update_custom", "fetch"])
async def test_a_thread_that_is_not_there_is_named(open_list: Open, change: str) -> None:
    threads = open_list()
    more: dict[str, list[Any]] = {"rename": ["x"], "update_custom": [{}]}

    with pytest.raises(ThreadNotFoundError, match="'nowhere'"):
        await getattr(threads, change)("nowhere", *more.get(change, []))


async def later(messages: tuple[Message, ...]) -> str:
    return f"about {len(messages)}"


async def pieces(messages: tuple[Message, ...]) -> AsyncIterator[str]:
    yield "Two "
    yield "words"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (simple_title, ["hello"]),
        (later, ["about 1"]),
        (pieces, ["Two ", "words"]),
        (None, []),
    ],
)
async def test_a_title_comes_in_pieces_and_is_kept_whole(
    open_list: Open, title: TitleFunction | None, expected: list[str]
) -> None:
    threads = open_list(title=title)
    await threads.initialize("t1")

    made = [piece async for piece in threads.generate_title("t1", (user("u1", "hello"),))]

    assert made == expected
    assert (await threads.fetch("t1")).title == ("".join(expected) or None)


async def test_a_title_that_fails_half_way_is_not_kept(open_list: Open) -> None:
    async def broken(messages: tuple[Message, ...]) -> AsyncIterator[str]:
        yield "Half a"
        raise OSError("gone")

    threads = open_list(title=broken)
    await threads.initialize("t1")
    await threads.rename("t1", "Before")

    with pytest.raises(OSError, match="gone"):
        assert [piece async for piece in threads.generate_title("t1", ())] == []

    assert (await threads.fetch("t1")).title == "Before"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("  hello \n", "hello"),
        ("x" * 50, "x" * 50),
        ("x" * 51, "x" * 47 + "..."),
        ("   ", "New Thread"),
    ],
)
def test_a_simple_title_is_the_first_question_cut_to_fifty_characters(text: str, title: str) -> None:
    assert simple_title((user("u1", text),)) == title


def test_a_simple_title_without_a_question_is_the_same_for_all() -> None:
    assert simple_title(()) == "New Thread"


# ---------------------------------------------------------------- files


async def test_a_file_lists_the_thread_with_the_newest_message_first(tmp_path: Path) -> None:
    async with SqliteThreadList(tmp_path / "chat.db") as threads:
        for name in ("one", "two", "three"):
            await threads.history(name).append(chain(f"u-{name}")[0])
        late = attrs.evolve(user("late"), created_at=datetime(2099, 1, 1, tzinfo=UTC))
        await threads.history("one").append(HistoryItem(parent_id="u-one", message=late))

        page = await threads.list()

    assert [one.id for one in page.threads] == ["one", "three", "two"]
    assert page.threads[0].last_message_at == datetime(2099, 1, 1, tzinfo=UTC)


def write_first_version(path: Path, *texts: str) -> None:
    """A file as the first version of the schema had it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        _schema._create(connection)
        connection.execute("PRAGMA user_version = 1")
        connection.execute("INSERT INTO threads (id, head_id) VALUES ('default', 'u1')")
        for position, text in enumerate(texts):
            values = ("default", f"u{position}", None, position, 1, text, "{}")
            connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)", values)


async def test_a_file_of_the_first_version_is_listed_with_its_messages(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    write_first_version(
        path,
        message_text(user("u0")),
        "{broken",
        message_text(attrs.evolve(user("u2"), created_at=datetime(2999, 1, 1, tzinfo=UTC))),
    )

    async with SqliteThreadList(path) as threads:
        page = await threads.list()

        assert [(one.id, one.status, one.title) for one in page.threads] == [("default", "regular", None)]
        assert page.threads[0].last_message_at == datetime(2999, 1, 1, tzinfo=UTC)
    async with SqliteHistory(path, report=Reports()) as history:
        assert tree(await history.load()) == {"u0": None, "u2": None}


@pytest.mark.parametrize(
    ("change", "where", "listed"),
    [
        ("status = 'lost'", "status", []),
        ("custom = '['", "custom", ["t1"]),
        ("custom = '[]'", "custom", ["t1"]),
        ("last_message_at = 'noon'", "last_message_at", ["t1"]),
    ],
)
async def test_a_row_that_cannot_be_read_is_told_once_and_kept(
    tmp_path: Path, change: str, where: str, listed: list[str]
) -> None:
    path, reports = tmp_path / "chat.db", Reports()
    async with SqliteThreadList(path, report=reports) as threads:
        await threads.initialize("t1")
        query(path, f"UPDATE threads SET {change}")

        assert [one.id for one in (await threads.list()).threads] == listed
        assert [one.id for one in (await threads.list()).threads] == listed

    assert [(one.thread_id, one.where) for one in reports] == [("t1", where)]
    assert query(path, "SELECT COUNT(*) FROM threads") == [(1,)]


@pytest.mark.parametrize("column", ["title", "external_id", "custom", "last_message_at", "status"])
async def test_a_damaged_text_keeps_no_other_thread_from_the_list(tmp_path: Path, column: str) -> None:
    path = tmp_path / "chat.db"
    async with SqliteThreadList(path, report=Reports()) as threads:
        for id_ in ("t1", "t2"):
            await threads.initialize(id_)
        query(path, f"UPDATE threads SET {column} = CAST(x'00ff' AS TEXT) WHERE id = 't1'")

        assert "t2" in [one.id for one in (await threads.list()).threads]


async def test_a_thread_whose_id_is_no_text_is_told_and_not_listed(tmp_path: Path) -> None:
    path, reports = tmp_path / "chat.db", Reports()
    async with SqliteThreadList(path, report=reports) as threads:
        await threads.initialize("t1")
        query(path, "INSERT INTO threads (id) VALUES (x'ff00')")

        assert [one.id for one in (await threads.list()).threads] == ["t1"]
    assert [one.where for one in reports] == ["id"]


async def test_custom_values_that_are_no_json_change_nothing(tmp_path: Path) -> None:
    async with SqliteThreadList(tmp_path / "chat.db") as threads:
        await threads.initialize("t1")

        with pytest.raises(ThreadListError, match="no JSON") as caught:
            await threads.update_custom("t1", {"when": object()})

        assert caught.value.thread_id == "t1"
        assert (await threads.fetch("t1")).custom == {}


@pytest.mark.parametrize("cursor", ["nonsense", "[]", "[1]", "{}"])
async def test_a_cursor_that_is_none_says_so(open_list: Open, cursor: str) -> None:
    with pytest.raises(ThreadListError, match="no place in the list"):
        await open_list().list(cursor)


async def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    async with SqliteThreadList(tmp_path) as threads:
        with pytest.raises(ThreadListError, match=f"could not list in {str(tmp_path)!r}") as caught:
            await threads.list()

        assert caught.value.operation == "list"


async def test_a_shared_file_is_closed_by_whoever_made_it(tmp_path: Path) -> None:
    async with SqliteFile(tmp_path / "chat.db") as file:
        async with SqliteThreadList(file) as threads, SqliteHistory(file, "t1") as history:
            await history.append(chain("u1")[0])
        assert [one.id for one in (await threads.list()).threads] == ["t1"]
    with pytest.raises(HistoryError, match="closed"):
        await history.load()
    with pytest.raises(ThreadListError, match="closed"):
        await threads.list()


async def test_many_calls_at_once_are_all_done(tmp_path: Path) -> None:
    async with SqliteThreadList(tmp_path / "chat.db") as threads, anyio.create_task_group() as tasks:
        for number in range(30):
            tasks.start_soon(threads.initialize, f"t{number}")
    async with SqliteThreadList(tmp_path / "chat.db") as again:
        assert {one.id for one in (await again.list()).threads} == {f"t{number}" for number in range(30)}


async def test_a_cancelled_caller_does_not_undo_what_it_asked_for(tmp_path: Path) -> None:
    async with SqliteThreadList(tmp_path / "chat.db") as threads:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await threads.initialize("t1")

        assert [one.id for one in (await threads.list()).threads] == ["t1"]


def test_a_stored_thread_cannot_be_changed_from_outside() -> None:
    custom = {"tags": ["a"]}
    thread = StoredThread(id="t1", custom=custom)
    custom["tags"].append("b")

    assert thread.custom == {"tags": ["a"]}
