from __future__ import annotations

import json
import logging
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import anyio
import attrs
import pytest

from partwise.adapters import HistoryItem
from partwise.errors import HistoryError
from partwise.messages import (
    REQUIRES_TOOL_CALLS,
    RUNNING,
    Approval,
    AssistantMessage,
    IncompleteStatus,
    TextPart,
    ToolCallPart,
)
from partwise.persistence import HistoryProblem, SqliteFile, SqliteHistory
from partwise.persistence._schema import transaction
from tests.persistence.conversations import WHEN, assistant, chain, item, tree, user
from tests.persistence.histories import Reports, query


async def write(path: Path, *items: HistoryItem, thread_id: str = "default") -> None:
    async with SqliteHistory(path, thread_id) as history:
        for one in items:
            await history.append(one)


# ---------------------------------------------------------------- the file


async def test_closing_and_reopening_continues_the_thread_branches_included(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with SqliteHistory(path) as history:
        for one in (*chain("u1", "a1"), item("a2", "u1")):
            await history.append(one)
        await history.set_head("a1")

    async with SqliteHistory(path) as history:
        loaded = await history.load()

    assert tree(loaded) == {"u1": None, "a1": "u1", "a2": "u1"}
    assert loaded is not None
    assert loaded.head_id == "a1"


async def test_the_folder_is_made_and_the_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "chat.db"
    await write(path, *chain("u1"))

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_home_folder_in_the_path_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    async with SqliteHistory("~/chat.db") as history:
        await history.append(item("u1", None))

    assert (tmp_path / "chat.db").is_file()


async def test_in_memory_it_keeps_what_it_was_told_until_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with SqliteHistory(":memory:") as history:
        await history.append(item("u1", None))
        assert tree(await history.load()) == {"u1": None}

    assert os.listdir(tmp_path) == []


async def test_threads_of_one_file_do_not_see_each_other(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    await write(path, *chain("u1", "a1"), thread_id="one")
    await write(path, *chain("u1", "u2"), thread_id="two")
    async with SqliteHistory(path, "two") as two:
        await two.delete((item("u1", None),))

    async with SqliteHistory(path, "one") as one, SqliteHistory(path, "two") as two:
        assert tree(await one.load()) == {"u1": None, "a1": "u1"}
        assert tree(await two.load()) == {"u2": None}


async def test_the_log_is_written_ahead(tmp_path: Path) -> None:
    await write(tmp_path / "chat.db", *chain("u1"))

    assert query(tmp_path / "chat.db", "PRAGMA journal_mode") == [("wal",)]


async def test_nothing_is_opened_before_the_first_use(tmp_path: Path) -> None:
    async with SqliteHistory(tmp_path / "chat.db"):
        pass

    assert os.listdir(tmp_path) == []


# ---------------------------------------------------------------- files that cannot be used


@pytest.mark.parametrize("operation", ["load", "append", "set_head"])
async def test_a_path_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path, operation: str) -> None:
    (tmp_path / "file").write_text("in the way")
    history = SqliteHistory(tmp_path / "file" / "chat.db")

    with pytest.raises(HistoryError, match=r"file/chat\.db"):
        await {"load": history.load, "append": lambda: history.append(item("u1", None))}.get(
            operation, lambda: history.set_head("u1")
        )()


async def test_a_folder_in_place_of_the_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="cannot open") as caught:
        await SqliteHistory(tmp_path).load()

    assert str(tmp_path) in str(caught.value)
    assert caught.value.operation == "open"


async def test_a_path_that_becomes_usable_works_without_a_new_history(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    async with SqliteHistory(tmp_path / "file" / "chat.db") as history:
        with pytest.raises(HistoryError):
            await history.load()
        (tmp_path / "file").unlink()

        assert await history.load() is None


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary, " * 100)

    with pytest.raises(HistoryError, match=r"notes\.txt.*not a database"):
        await SqliteHistory(path).append(item("u1", None))

    assert path.read_text() == "dear diary, " * 100


async def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.db"
    query(path, "CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()

    with pytest.raises(HistoryError, match="another program"):
        await SqliteHistory(path).append(item("u1", None))

    assert path.read_bytes() == before


async def test_a_file_of_a_later_version_is_left_alone_with_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    await write(path, *chain("u1"))
    query(path, "PRAGMA user_version = 99")

    with pytest.raises(HistoryError, match=r"later version.*schema 99.*Update partwise"):
        await SqliteHistory(path).load()

    assert query(path, "PRAGMA user_version") == [(99,)]


async def test_a_closed_history_says_so(tmp_path: Path) -> None:
    history = SqliteHistory(tmp_path / "chat.db")
    await history.append(item("u1", None))
    await history.aclose()
    await history.aclose()

    with pytest.raises(HistoryError, match="is closed"):
        await history.load()


async def test_a_locked_file_fails_the_write_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partwise.persistence._schema._BUSY_SECONDS", 0.0)
    path = tmp_path / "chat.db"
    async with SqliteHistory(path) as history:
        await history.append(item("u1", None))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(HistoryError, match=r"could not append.*locked") as caught:
            await history.append(item("a1", "u1"))
        other.execute("ROLLBACK")
        other.close()
        await history.append(item("a1", "u1"))

        assert caught.value.message_id == "a1"
        assert tree(await history.load()) == {"u1": None, "a1": "u1"}


async def test_another_writer_at_work_does_not_hold_up_loading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partwise.persistence._schema._BUSY_SECONDS", 0.0)
    path = tmp_path / "chat.db"
    await write(path, *chain("u1", "a1"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM messages")
        async with SqliteHistory(path) as history:
            assert tree(await history.load()) == {"u1": None, "a1": "u1"}


async def test_a_full_disk_fails_the_write_by_its_name_and_nothing_after_there_is_room(tmp_path: Path) -> None:
    file = SqliteFile(tmp_path / "chat.db")
    async with file:
        history = SqliteHistory(file)
        await history.append(item("u1", None))
        await file.perform(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())
        with pytest.raises(HistoryError, match=r"could not append.*disk is full") as caught:
            await history.append(HistoryItem(parent_id="u1", message=assistant("a1", "long " * 20_000)))
        await history.append(item("a2", "u1"))
        await file.perform(lambda connection: connection.execute("PRAGMA max_page_count = 100000").fetchone())
        await history.append(HistoryItem(parent_id="u1", message=assistant("a1", "long " * 20_000)))

        assert caught.value.message_id == "a1"
        assert tree(await history.load()) == {"u1": None, "a2": "u1", "a1": "u1"}


@pytest.mark.parametrize("fails_early", [True, False])
def test_a_transaction_that_fails_leaves_none_behind(fails_early: bool) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        with transaction(connection):
            connection.execute("INSERT INTO u VALUES (1)")  # what only the commit refuses
            if fails_early:
                raise LookupError

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY)")
        connection.execute("CREATE TABLE u (a INTEGER REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
        with pytest.raises(LookupError if fails_early else sqlite3.IntegrityError):
            fail(connection)
        with transaction(connection):
            connection.execute("INSERT INTO t VALUES (2)")

        assert connection.execute("SELECT * FROM u").fetchall() == []


# ---------------------------------------------------------------- rows that cannot be used

BAD_ROWS = {
    "no JSON": ("UPDATE messages SET json = '{\"role\"' WHERE id = 'a1'", "json"),
    "no message": ("UPDATE messages SET json = '[]' WHERE id = 'a1'", None),
    "a later format": ("UPDATE messages SET format = 7 WHERE id = 'a1'", "format"),
    "a format that is a text": ("UPDATE messages SET format = 'one' WHERE id = 'a1'", "format"),
    "a format that is bytes": ("UPDATE messages SET format = x'ff' WHERE id = 'a1'", "format"),
    "JSON that is no UTF-8": ("UPDATE messages SET json = CAST(x'7b22ff' AS TEXT) WHERE id = 'a1'", "json"),
    "bytes": ("UPDATE messages SET json = x'ff00' WHERE id = 'a1'", "json"),
    "a number": ("UPDATE messages SET json = 7 WHERE id = 'a1'", None),
    "deep nesting": (f"UPDATE messages SET json = '{'[' * 100_000}' WHERE id = 'a1'", "json"),
    "deep values": (
        "UPDATE messages SET json = "
        f"""json_set(json, '$.content[0].provider_metadata', json('{'{"a":' * 990}1{"}" * 990}')) WHERE id = 'a1'""",
        None,
    ),
    "another message": ("UPDATE messages SET json = (SELECT json FROM messages WHERE id = 'u1') WHERE id = 'a1'", "id"),
}


@pytest.mark.parametrize("damage", BAD_ROWS)
async def test_a_bad_row_is_reported_once_and_kept_and_all_others_load(tmp_path: Path, damage: str) -> None:
    path, reports = tmp_path / "chat.db", Reports()
    statement, where = BAD_ROWS[damage]
    await write(path, *chain("u1", "a1", "u2", "a2"))
    query(path, statement)
    before = query(path, "SELECT * FROM messages")

    async with SqliteHistory(path, report=reports) as history:
        loaded = await history.load()
        assert await history.load() == loaded

    assert tree(loaded) == {"u1": None, "u2": "u1", "a2": "u2"}
    assert [(report.thread_id, report.message_id) for report in reports] == [("default", "a1")]
    assert where is None or reports[0].where == where
    assert query(path, "SELECT * FROM messages") == before


@pytest.mark.parametrize("column", ["id", "parent_id"])
@pytest.mark.parametrize("value", ["x'00ff'", "CAST(x'00ff' AS TEXT)"])
async def test_a_damaged_id_spoils_no_other_row(tmp_path: Path, column: str, value: str) -> None:
    path, reports = tmp_path / "chat.db", Reports()
    await write(path, *chain("u1", "a1", "u2"))
    query(path, f"UPDATE messages SET {column} = {value} WHERE id = 'a1'")

    async with SqliteHistory(path, report=reports) as history:
        loaded = await history.load()

    assert set(tree(loaded)) == ({"u1", "u2"} if column == "id" else {"u1", "a1", "u2"})
    assert column in {report.where for report in reports}


@pytest.mark.parametrize("value", ["x'00ff'", "CAST(x'00ff' AS TEXT)"])
async def test_a_damaged_head_is_told_and_the_newest_branch_is_shown(tmp_path: Path, value: str) -> None:
    path, reports = tmp_path / "chat.db", Reports()
    await write(path, *chain("u1", "a1"))
    query(path, f"UPDATE threads SET head_id = {value}")

    async with SqliteHistory(path, report=reports) as history:
        loaded = await history.load()

    assert loaded is not None
    assert loaded.head_id == "a1"
    assert len(reports) == 1


async def test_a_part_of_an_unknown_kind_makes_a_bad_row_that_says_where(tmp_path: Path) -> None:
    path, reports = tmp_path / "chat.db", Reports()
    await write(path, *chain("u1", "a1"))
    [(text,)] = query(path, "SELECT json FROM messages WHERE id = 'a1'")
    value = json.loads(text)
    value["content"][0]["type"] = "hologram"
    query(path, "UPDATE messages SET json = ? WHERE id = 'a1'", json.dumps(value))

    async with SqliteHistory(path, report=reports) as history:
        loaded = await history.load()

    assert tree(loaded) == {"u1": None}
    assert "content" in reports[0].where


async def test_the_conversation_goes_on_around_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    await write(path, *chain("u1", "a1", "u2"))
    query(path, "UPDATE messages SET json = 'x' WHERE id = 'a1'")

    async with SqliteHistory(path, report=Reports()) as history:
        await history.load()
        await history.append(item("a2", "u2"))
        await history.delete((item("u2", "u1"),))
        loaded = await history.load()

    assert tree(loaded) == {"u1": None, "a2": "u1"}
    assert loaded is not None
    assert loaded.head_id == "a2"


async def test_a_side_branch_written_later_does_not_hide_the_conversation_and_a_lost_head_is_told(
    tmp_path: Path,
) -> None:
    path, reports = tmp_path / "chat.db", Reports()
    await write(path, *chain("u1", "a1"), item("a0", "a1"), item("u2", "a1"), item("a2", "u2"))
    query(path, "UPDATE threads SET head_id = 'gone'")

    async with SqliteHistory(path, report=reports) as history:
        loaded = await history.load()

    assert loaded is not None
    assert loaded.head_id == "a2"
    assert [report.message_id for report in reports] == ["gone"]


async def test_reports_go_to_the_log_unless_told_otherwise(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "chat.db"
    await write(path, *chain("u1", "a1"))
    query(path, "UPDATE messages SET json = 'x' WHERE id = 'a1'")

    with caplog.at_level(logging.WARNING, "partwise.persistence"):
        async with SqliteHistory(path) as history:
            await history.load()

    assert "'a1' of thread 'default' (at json)" in caplog.text


async def test_a_report_hook_that_raises_does_not_spoil_the_load(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(problem: HistoryProblem) -> None:
        raise LookupError(problem.what)

    path = tmp_path / "chat.db"
    await write(path, *chain("u1", "a1"))
    query(path, "UPDATE messages SET json = 'x' WHERE id = 'a1'")

    async with SqliteHistory(path, report=fail) as history:
        assert tree(await history.load()) == {"u1": None}

    assert "report hook of a history raised" in caplog.text


async def test_a_run_config_that_is_no_json_is_told_and_the_message_is_stored(tmp_path: Path) -> None:
    reports = Reports()
    async with SqliteHistory(tmp_path / "chat.db", report=reports) as history:
        await history.append(HistoryItem(parent_id=None, message=user("u1"), run_config={"live": object()}))
        await history.append(HistoryItem(parent_id="u1", message=assistant("a1"), run_config={"custom": {"n": 1}}))

        assert tree(await history.load()) == {"u1": None, "a1": "u1"}
    assert [report.where for report in reports] == ["run_config"]
    stored = query(tmp_path / "chat.db", "SELECT run_config FROM messages ORDER BY position")
    assert [json.loads(text) for (text,) in stored] == [{}, {"custom": {"n": 1}}]


# ---------------------------------------------------------------- statuses


async def test_an_answer_stored_while_running_loads_as_cut_off(tmp_path: Path) -> None:
    running = attrs.evolve(assistant("a1", status=RUNNING), content=(TextPart("half an ans", status=RUNNING),))
    await write(tmp_path / "chat.db", item("u1", None), HistoryItem(parent_id="u1", message=running))

    async with SqliteHistory(tmp_path / "chat.db") as history:
        loaded = await history.load()

    assert loaded is not None
    cut = loaded.entries[1].message
    assert isinstance(cut, AssistantMessage)
    assert cut.status == IncompleteStatus("other")
    assert cut.content == (TextPart("half an ans", status=IncompleteStatus("other")),)


async def test_an_answer_that_waits_for_a_human_keeps_waiting(tmp_path: Path) -> None:
    call = ToolCallPart(tool_call_id="c1", tool_name="write_file", approval=Approval(id="p1"))
    paused = AssistantMessage(id="a1", created_at=WHEN, content=(call,), status=REQUIRES_TOOL_CALLS)
    await write(tmp_path / "chat.db", item("u1", None), HistoryItem(parent_id="u1", message=paused))

    async with SqliteHistory(tmp_path / "chat.db") as history:
        loaded = await history.load()

    assert loaded is not None
    assert loaded.entries[1].message == paused


# ---------------------------------------------------------------- order and cancellation


async def test_writes_land_in_the_order_in_which_they_were_asked(tmp_path: Path) -> None:
    async with SqliteHistory(tmp_path / "chat.db") as history:
        await history.append(item("u1", None))
        async with anyio.create_task_group() as tasks:
            for number in range(50):
                update = HistoryItem(parent_id="u1", message=assistant("a1", f"version {number}"))
                # asyncio starts tasks in order, trio does not: the order of asking is made here.
                started = anyio.Event()

                async def ask(update: HistoryItem = update, started: anyio.Event = started) -> None:
                    started.set()
                    await history.update(update)

                tasks.start_soon(ask)
                await started.wait()
        loaded = await history.load()

    assert loaded is not None
    assert loaded.entries[1].message == assistant("a1", "version 49")


async def test_a_write_whose_caller_is_cancelled_completes(tmp_path: Path) -> None:
    async with SqliteHistory(tmp_path / "chat.db") as history:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await history.append(item("u1", None))

        assert tree(await history.load()) == {"u1": None}


async def test_a_write_that_fails_halfway_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    await write(path, *chain("u1", "a1", "u2"))
    query(
        path, "CREATE TRIGGER refuse BEFORE DELETE ON messages WHEN old.id = 'u2' BEGIN SELECT RAISE(ABORT, 'no'); END"
    )

    async with SqliteHistory(path) as history:
        with pytest.raises(HistoryError, match="could not delete"):
            await history.delete(chain("u1", "a1", "u2"))

        assert tree(await history.load()) == {"u1": None, "a1": "u1", "u2": "a1"}


async def test_the_event_loop_is_free_while_the_file_is_written(tmp_path: Path) -> None:
    async with SqliteHistory(tmp_path / "chat.db") as history, anyio.create_task_group() as tasks:
        steps: list[str] = []

        async def go_on() -> None:
            steps.append("elsewhere")

        tasks.start_soon(go_on)
        await history.append(item("u1", None))
        steps.append("written")

    assert steps == ["elsewhere", "written"]


async def test_two_processes_worth_of_connections_may_write_to_one_thread(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with SqliteHistory(path) as one, SqliteHistory(path) as two:
        await one.append(item("u1", None))
        await two.append(item("a1", "u1"))
        await one.append(item("u2", "a1"))

        assert tree(await two.load()) == {"u1": None, "a1": "u1", "u2": "a1"}


async def test_the_time_of_a_load_grows_with_its_rows_in_constant_statements(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with SqliteHistory(path) as history:
        for one in chain(*(f"u{number}" for number in range(300))):
            await history.append(one)
        statements: list[str] = []
        assert history._file.connection is not None
        history._file.connection.set_trace_callback(statements.append)
        await history.load()
        history._file.connection.set_trace_callback(None)

    assert len([line for line in statements if line.startswith("SELECT")]) == 2
