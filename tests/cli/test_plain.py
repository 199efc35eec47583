"""The plain chat: what is printed for what was typed, and what has happened by then."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from partwise.adapters import HistoryItem, RunContext
from partwise.cli._options import ChatOptions
from partwise.cli._plain import Output, PlainChat, TextLines
from partwise.cli._rules import folder_tools
from partwise.cli._session import open_runtime
from partwise.messages import ApprovalOption, Confirm, message_from_like, message_text
from partwise.persistence import SqliteHistory
from partwise.runtimes import LocalRuntime
from partwise.stream import (
    Chunk,
    ErrorChunk,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolCallStart,
)
from partwise.tools import ToolContext, Toolkit
from tests.cli.chatting import Said, chat, rules, scripted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text("one\ntwo\nthree\n")
    return tmp_path


async def test_a_question_is_answered_with_a_real_tool_call(folder: Path) -> None:
    said = await chat(rules(folder), "count the lines in README.md", root=folder)

    lines = said.out.splitlines()
    assert '[tool] count {"path": "README.md", "what": "lines"}' in lines
    assert '[tool] count -> {"path": "README.md", "lines": 3}' in lines
    assert lines[-1] == "`README.md` has 3 lines."
    assert (said.errors, said.code) == ("", 0)


async def test_each_line_is_a_prompt_and_blank_ones_are_none(folder: Path) -> None:
    said = await chat(rules(folder), "hello", "", "   ", "what is 2 + 3", root=folder)

    assert "Hello!" in said.out
    assert "[tool] calculate" in said.out
    assert said.out.count("Hello!") == 1


async def test_nothing_is_written_before_the_next_line_allows_it(folder: Path) -> None:
    target = folder / "notes.txt"
    seen: list[bool] = []

    class Lines:
        def __init__(self) -> None:
            self.left = ['write "hi" to notes.txt', "y"]

        async def next(self) -> str | None:
            seen.append(target.exists())
            return self.left.pop(0) if self.left else None

    said = await chat(rules(folder), source=Lines(), root=folder)

    assert seen == [False, False, True]
    assert target.read_text() == "hi\n"
    assert "[approval] write_file" in said.out


@pytest.mark.parametrize("answer", ["n", "", "what?", "2"])
async def test_anything_but_yes_is_a_no(folder: Path, answer: str) -> None:
    said = await chat(rules(folder), 'write "hi" to notes.txt', answer, root=folder)

    assert not (folder / "notes.txt").exists()
    assert "[tool] write_file failed: Tool approval denied" in said.out


async def test_an_approval_can_be_answered_with_the_number_of_an_option(folder: Path) -> None:
    await chat(rules(folder), 'write "hi" to notes.txt', "1", root=folder)

    assert (folder / "notes.txt").read_text() == "hi\n"


async def test_an_approval_that_nobody_answers_is_denied_with_the_reason(folder: Path) -> None:
    said = await chat(rules(folder), 'write "hi" to notes.txt', root=folder)

    assert not (folder / "notes.txt").exists()
    assert "[tool] write_file failed: Nobody answered: the input had ended." in said.out
    assert said.code == 0


async def streaming(run: RunContext) -> AsyncGenerator[Chunk, None]:
    yield ReasoningDelta("let me ")
    yield ReasoningDelta("think")
    yield TextDelta("Good ")
    yield TextDelta("day")
    yield Finish("length")


async def test_reasoning_text_and_an_early_end_are_told_apart() -> None:
    said = await chat(scripted(streaming), "hi")

    assert said.out == "[thinking] let me think\nGood day\n[incomplete: length]\n"
    assert said.code == 0


async def test_text_is_printed_as_it_arrives() -> None:
    printed: list[str] = []
    out = io.StringIO()

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        for word in ("one ", "two ", "three"):
            yield TextDelta(word)
            printed.append(out.getvalue())

    async with LocalRuntime(model) as runtime:
        await PlainChat(runtime.thread, TextLines(["hi"]), Output(out)).run()

    assert printed == ["one ", "one two ", "one two three"]
    assert out.getvalue() == "one two three\n"


async def failing(run: RunContext) -> AsyncGenerator[Chunk, None]:
    yield TextDelta("so far")
    raise RuntimeError("the line is dead")


async def reporting(run: RunContext) -> AsyncGenerator[Chunk, None]:
    yield TextDelta("so far")
    yield ErrorChunk("no more credit")


async def test_a_model_that_raises_is_a_failed_answer_and_exit_code_1() -> None:
    said = await chat(scripted(failing), "hi")

    assert said.out == "so far\n[error: the line is dead]\n"
    assert said.code == 1


async def test_a_model_that_reports_an_error_is_a_failed_answer_as_well() -> None:
    said = await chat(scripted(reporting), "hi")

    assert said.out == "so far\n[error: no more credit]\n"
    assert said.code == 1


async def test_an_answer_that_broke_off_is_a_failed_one() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("so f")
        yield Finish("other")

    said = await chat(scripted(model), "hi")

    assert said.out == "so f\n[incomplete: other]\n"
    assert said.code == 1


async def test_the_exit_code_is_that_of_the_last_answer() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        if len(run.messages) == 1:
            raise RuntimeError("no")
        yield TextDelta("fine")

    said = await chat(scripted(model), "hi", "again")

    assert said.out == "[error: no]\nfine\n"
    assert said.code == 0


async def test_calls_whose_arguments_interleave_keep_their_lines_apart() -> None:
    tools = Toolkit()

    @tools.backend
    def look(what: str) -> None: ...

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield ToolCallStart("a", "look")
        yield ToolCallStart("b", "look")
        yield ToolArgsDelta("a", '{"what":\n')
        yield ToolArgsDelta("b", '{"what": "y"}')
        yield ToolArgsDelta("a", '"x"}')
        yield ToolArgsFinish("a")
        yield ToolArgsFinish("b")
        yield Finish("tool-calls")

    said = await chat(scripted(model, tools), "hi")

    assert said.out.splitlines() == [
        "[tool] look ",
        "[tool] look ",
        '[tool] look {"what": ',
        '[tool] look {"what": "y"}',
        '[tool] look "x"}',
        "[requires-action: tool-calls]",
    ]


async def test_a_running_tool_can_ask_and_gets_the_next_line() -> None:
    tools = Toolkit()

    @tools.frontend
    async def name_it(context: ToolContext) -> str:
        """Ask for a name."""
        return f"named {await context.human({'ask': 'a name'})}"

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        if run.roundtrip == 0:
            yield ToolCallStart("a", "name_it")
            yield ToolArgsDelta("a", "{}")
            yield ToolArgsFinish("a")
            yield Finish("tool-calls")
        else:
            yield TextDelta("done")

    said = await chat(scripted(model, tools), "hi", "Ada", "next")

    assert said.out.splitlines()[:4] == [
        "[tool] name_it {}",
        '[question] name_it asks: {"ask": "a name"} Ada',
        "[tool] name_it -> named Ada",
        "done",
    ]


async def test_a_tool_can_ask_one_question_after_the_other() -> None:
    tools = Toolkit()

    @tools.frontend
    async def add(context: ToolContext) -> int:
        """Ask for two numbers."""
        return int(await context.human("first?")) + int(await context.human("second?"))

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        if run.roundtrip:
            yield TextDelta("Thanks.")
            return
        yield ToolCallStart("a", "add")
        yield ToolArgsDelta("a", "{}")
        yield ToolArgsFinish("a")
        yield Finish("tool-calls")

    said = await chat(scripted(model, tools), "hi", "3", "4")

    assert said.out.splitlines()[1:] == [
        "[question] add asks: first? 3",
        "[question] add asks: second? 4",
        "[tool] add -> 7",
        "Thanks.",
    ]


async def test_a_question_that_nobody_answers_ends_the_run() -> None:
    tools = Toolkit()

    @tools.frontend
    async def name_it(context: ToolContext) -> str:
        """Ask for a name."""
        return str(await context.human("who?"))

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield ToolCallStart("a", "name_it")
        yield ToolArgsDelta("a", "{}")
        yield ToolArgsFinish("a")
        yield Finish("tool-calls")

    said = await chat(scripted(model, tools), "hi")

    assert said.out.startswith("[tool] name_it {}\n[question] name_it asks: who? \n[")
    assert said.code == 0


async def test_an_interrupt_cancels_the_answer_once_and_keeps_what_came() -> None:
    out = io.StringIO()
    answers: list[bool] = []

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("as far as")
        answers.append(plain.interrupt())
        answers.append(plain.interrupt())
        await anyio.sleep_forever()

    async with LocalRuntime(model) as runtime:
        plain = PlainChat(runtime.thread, TextLines(["hi"]), Output(out))
        await plain.run()
        answers.append(plain.interrupt())

    assert out.getvalue() == "as far as\n[cancelled]\n"
    assert answers == [True, False, False]


async def test_reload_edit_and_branch_make_and_show_branches(folder: Path) -> None:
    said = await chat(
        rules(folder), "what is 1 + 1", "/edit 1 what is 2 + 2", "/branch prev", "/reload", "/history", root=folder
    )

    assert "1 you (2/2): what is 2 + 2" not in said.out
    assert "1 you (1/2): what is 1 + 1" in said.out
    assert "2 assistant (2/2): " in said.out
    assert said.code == 0


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("/edit", "[/edit needs the number"),
        ("/edit 1", "[/edit needs the number"),
        ("/edit 7 x", "[message 7 is not one of yours"),
        ("/edit 2 x", "[message 2 is not one of yours"),
        ("/branch", "[/branch needs a direction"),
        ("/branch next", "[there is only one branch]"),
        ("/dance", "[there is no command /dance"),
        ("/help", "/edit N TEXT"),
    ],
)
async def test_a_command_that_cannot_be_done_says_why_and_the_chat_goes_on(line: str, answer: str) -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta(f"heard {message_text(run.messages[-1])}")

    said = await chat(scripted(model), "one", line, "two")

    assert answer in said.out
    assert said.out.endswith("heard two\n")
    assert said.code == 0


async def test_reload_without_an_answer_is_refused() -> None:
    said = await chat(scripted(streaming), "/reload")

    assert said.out == "[there is nothing to be answered]\n"


async def test_reload_answers_a_question_that_was_left_without_an_answer(tmp_path: Path) -> None:
    database = tmp_path / "chat.sqlite3"
    async with SqliteHistory(database) as history:
        await history.append(HistoryItem(parent_id=None, message=message_from_like("hi")))

    said = await chat(scripted(streaming), "/reload", database=database)

    assert said.out == "[thinking] let me think\nGood day\n[incomplete: length]\n"


async def test_branch_at_the_end_is_refused(folder: Path) -> None:
    said = await chat(rules(folder), "what is 1 + 1", "/reload", "/branch next", "hello", root=folder)

    assert "[refused: No branch with id 'next'" in said.out
    assert "Hello!" in said.out


async def test_quit_ends_the_chat_and_a_double_slash_begins_a_prompt() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta(message_text(run.messages[-1]))

    said = await chat(scripted(model), "//etc", "/quit", "never")

    assert said.out == "/etc\n"


async def test_a_thread_goes_on_where_it_was_left_with_its_branches(folder: Path, tmp_path: Path) -> None:
    database = tmp_path / "chat.sqlite3"
    await chat(rules(folder), "what is 1 + 1", "/edit 1 what is 2 + 2", "/branch prev", root=folder, database=database)

    said = await chat(rules(folder), "/branch next", root=folder, database=database, shows_history=True)

    before, _, after = said.out.partition("1 you (2/2): what is 2 + 2")
    assert "1 you (1/2): what is 1 + 1" in before
    assert after


async def test_two_threads_of_a_file_are_apart(folder: Path, tmp_path: Path) -> None:
    database = tmp_path / "chat.sqlite3"
    await chat(rules(folder), "hello", root=folder, database=database, thread_id="one")

    said = await chat(rules(folder), root=folder, database=database, thread_id="two", shows_history=True)

    assert said.out == ""


async def test_the_thread_so_far_is_printed_only_to_a_terminal_or_when_asked(folder: Path, tmp_path: Path) -> None:
    database = tmp_path / "chat.sqlite3"
    await chat(rules(folder), "hello", root=folder, database=database)

    async def reopened(*, terminal: bool = False, **more: bool) -> Said:
        return await chat(rules(folder), root=folder, database=database, terminal=terminal, **more)

    assert (await reopened()).out == ""
    assert "1 you: hello" in (await reopened(shows_history=True)).out
    assert "1 you: hello" in (await reopened(terminal=True)).out


async def test_a_history_that_cannot_be_opened_is_told_and_nothing_is_answered(tmp_path: Path) -> None:
    broken = tmp_path / "broken.sqlite3"
    broken.write_bytes(b"this is no database at all" * 100)

    said = await chat(scripted(streaming), "hi", database=broken)

    assert said.code == 1
    assert said.out == ""
    assert str(broken) in said.errors
    assert "--no-history" in said.errors
    assert len(said.errors.splitlines()) == 1


async def test_a_denied_call_does_not_deny_the_other_one(folder: Path) -> None:
    tools = folder_tools(folder)

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:  # B31
        if run.message.content:
            yield TextDelta("done")
            return
        for name in ("a", "b"):
            yield ToolCallStart(name, "write_file")
            yield ToolArgsDelta(name, json.dumps({"path": f"{name}.txt", "text": name}))
            yield ToolArgsFinish(name)
        yield Finish("tool-calls")

    said = await chat(scripted(model, tools), "hi", "n", "y")

    assert not (folder / "a.txt").exists()
    assert (folder / "b.txt").read_text() == "b\n"
    assert said.out.splitlines()[-1] == "done"


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        (["1"], "[tool] go -> went"),
        (["2", "n", "1"], "[tool] go -> went"),
        (["2", "y"], "[tool] go -> went"),
        (["3", "y"], "[tool] go -> went"),
        (["3", "n"], "[tool] go failed: Tool approval denied"),
        (["4"], "[tool] go failed: Tool approval denied"),
    ],
)
async def test_options_ask_what_they_need_to_know(answers: list[str], result: str) -> None:
    options = (
        ApprovalOption(id="once", kind="allow-once"),
        ApprovalOption(id="always", kind="allow-always", confirm=Confirm(title="For good?")),
        ApprovalOption(id="own", kind="custom", label="As I like"),
        ApprovalOption(id="no", kind="reject-once"),
    )
    tools = Toolkit()

    @tools.frontend(needs_approval=True, approval_options=options)
    def go() -> str:
        """Go."""
        return "went"

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        if run.message.content:
            yield TextDelta("done")
            return
        yield ToolCallStart("x", "go")
        yield ToolArgsDelta("x", "{}")
        yield ToolArgsFinish("x")
        yield Finish("tool-calls")

    said = await chat(scripted(model, tools), "hi", *answers)

    assert said.out.splitlines()[-2:] == [result, "done"]


async def test_a_permission_that_was_left_open_is_asked_again_in_a_terminal(folder: Path, tmp_path: Path) -> None:
    database = tmp_path / "chat.sqlite3"
    engine = rules(folder)
    async with open_runtime(ChatOptions(database=database), engine) as runtime:
        await runtime.thread.append('write "hi" to notes.txt')

    said = await chat(rules(folder), "y", root=folder, database=database, terminal=True)

    assert "[approval] write_file" in said.out
    assert (folder / "notes.txt").read_text() == "hi\n"


async def test_a_history_that_fails_is_told_beside_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(SqliteHistory, "append", fail)

    said = await chat(scripted(streaming), "hi", database=tmp_path / "chat.sqlite3")

    assert "Good day" in said.out
    assert said.errors.splitlines()[0] == "partwise: the history could not append: the disk is full"
    assert said.errors.splitlines()[-1].startswith("partwise: error: 2 messages are shown above, but not stored in ")
    assert said.code == 1


async def test_what_could_be_stored_in_the_end_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append, calls = SqliteHistory.append, 0

    async def fail_once(self: SqliteHistory, item: HistoryItem) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError("the disk is full")
        await append(self, item)

    monkeypatch.setattr(SqliteHistory, "append", fail_once)

    said = await chat(scripted(streaming), "hi", database=tmp_path / "chat.sqlite3")

    assert said.errors.splitlines() == ["partwise: the history could not append: the disk is full"]
    assert said.code == 0


def test_a_terminal_is_not_moved_by_what_is_said() -> None:
    shown, piped = io.StringIO(), io.StringIO()
    for output in (Output(shown, is_terminal=True), Output(piped)):
        output.write("a\x1b[2Jb\tc\r\x9b\x7f\n")

    assert shown.getvalue() == "a␛[2Jb\tc␍\ufffd␡\n"
    assert piped.getvalue() == "a\x1b[2Jb\tc\r\x9b\x7f\n"
