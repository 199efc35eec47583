"""The terminal chat: what is on the screen, and what a key does."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from textual.widgets import Button, Collapsible, Input

from partwise.adapters import RunContext
from partwise.cli._app import ChatApp
from partwise.cli._app._conversation import Conversation
from partwise.cli._app._parts import TextPartBox
from partwise.cli._app._sidebar import Sidebar, ThreadLine
from partwise.cli._app._tool_card import ToolCard
from partwise.messages import ApprovalOption, Confirm, FilePart, message_text
from partwise.runtimes import LocalRuntime
from partwise.stream import (
    Chunk,
    ErrorChunk,
    Finish,
    PartChunk,
    ReasoningDelta,
    TextDelta,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolCallStart,
)
from partwise.tools import ToolContext, Toolkit
from tests.cli.chatting import rules, scripted
from tests.cli.screens import Screen, screen


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the only loop that Textual runs on


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToolCard, "grace", 0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text("one\ntwo\nthree\n")
    return tmp_path


async def echo(run: RunContext) -> AsyncGenerator[Chunk, None]:
    yield TextDelta(f"heard {message_text(run.messages[-1])}")


# ---------------------------------------------------------------- streaming


async def test_text_is_on_the_screen_before_the_answer_is_whole() -> None:
    more = anyio.Event()

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("Good ")
        await more.wait()
        yield TextDelta("day")

    async with screen(scripted(model)) as s:
        await s.say("hi")
        await s.shows("Good")
        assert "Good day" not in s.text
        assert "● answering" in s.text
        assert "Esc cancels" in s.text

        more.set()
        await s.shows("Good day")
        await s.settled()
        await s.until(lambda: "● answering" not in s.text)


MARKDOWN = """# Title

A paragraph with **bold** text,
over two lines.

- one
- two

```python
print("a")
```

## End

Last words."""


async def test_streamed_markdown_ends_in_the_blocks_of_the_whole_text() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        for start in range(0, len(MARKDOWN), 3):
            yield TextDelta(MARKDOWN[start : start + 3])
            await anyio.sleep(0.003)  # so that the text is shown in several pieces

    async def at_once(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta(MARKDOWN)

    shown: list[tuple[list[str], list[str]]] = []
    for source in (model, at_once):
        async with screen(scripted(source)) as s:
            await s.say("hi")
            await s.settled()
            await s.shows("Last words.")
            box = s.app.query_one(TextPartBox)
            shown.append(([type(block).__name__ for block in box.children], s.rows))
            for kind in ("MarkdownH1", "MarkdownH2", "MarkdownBulletList", "MarkdownFence", "MarkdownParagraph"):
                assert box.query(kind), kind

    assert shown[0] == shown[1]


async def test_reasoning_is_closed_until_it_is_opened() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield ReasoningDelta("a secret thought")
        yield TextDelta("Yes.")

    async with screen(scripted(model)) as s:
        await s.say("hi")
        await s.shows("Yes.")
        await s.shows("Thought")
        assert "a secret thought" not in s.text

        s.app.query_one(Collapsible).collapsed = False
        await s.shows("a secret thought")


# ---------------------------------------------------------------- tools


async def test_a_card_shows_arguments_as_they_grow_and_then_the_result() -> None:
    more, done = anyio.Event(), anyio.Event()
    tools = Toolkit()

    @tools.frontend
    async def look(where: str) -> str:
        """Look somewhere."""
        await done.wait()
        return f"nothing in {where}"

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        if run.roundtrip:
            yield TextDelta("That was all.")
            return
        yield ToolCallStart("a", "look")
        yield ToolArgsDelta("a", '{"where": "the ')
        await more.wait()
        yield ToolArgsDelta("a", 'cupboard"}')
        yield ToolArgsFinish("a")
        yield Finish("tool-calls")

    async with screen(scripted(model, tools)) as s:
        await s.say("hi")
        await s.shows('{"where": "the')
        assert "● look …" in s.text
        assert "cupboard" not in s.text

        more.set()
        await s.shows('{"where": "the cupboard"}')
        assert "nothing in" not in s.text

        done.set()
        await s.shows("nothing in the cupboard")
        await s.shows("✓ look")
        await s.shows("That was all.")


async def test_nothing_is_written_before_somebody_allows_it(folder: Path) -> None:
    async with screen(rules(folder)) as s:
        await s.say('write "hi" to notes.txt')
        await s.shows("? write_file wants to run: allow?")
        await s.settled()
        assert "Allow once" in s.text
        assert "? waits for you" in s.text
        assert not (folder / "notes.txt").exists()

        await s.pilot.press("y")
        await s.shows("I created notes.txt")
        assert (folder / "notes.txt").read_text() == "hi\n"
        assert "allowed" in s.text
        assert not s.app.query("ApprovalRow")
        assert s.app.focused is s.app.composer


async def test_a_denied_call_is_not_run_and_the_answer_says_so(folder: Path) -> None:
    async with screen(rules(folder)) as s:
        await s.say('write "hi" to notes.txt')
        await s.shows("allow?")
        await s.pilot.press("n")
        await s.shows("You said no")

    assert not (folder / "notes.txt").exists()


@pytest.mark.parametrize(("option", "is_written"), [(0, True), (1, False)])
async def test_an_approval_can_be_clicked(folder: Path, option: int, is_written: bool) -> None:
    async with screen(rules(folder)) as s:
        await s.say('write "hi" to notes.txt')
        await s.shows("allow?")
        await s.pilot.click(list(s.card.query(Button))[option])
        await s.shows("notes.txt (" if is_written else "You said no")

    assert (folder / "notes.txt").exists() is is_written


async def test_an_option_asks_what_it_needs_to_know(folder: Path) -> None:
    options = (
        ApprovalOption(id="always", kind="allow-always", label="[b]Always[/b]", confirm=Confirm(title="For good?")),
        ApprovalOption(id="own", kind="custom", label="As I like"),
    )
    tools = Toolkit()

    @tools.frontend(needs_approval=True, approval_options=options)
    def go() -> str:
        """Go."""
        return "went"

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        if run.message.content:
            yield TextDelta("That was all.")
            return
        yield ToolCallStart("x", "go")
        yield ToolArgsDelta("x", "{}")
        yield ToolArgsFinish("x")
        yield Finish("tool-calls")

    for keys, result in ((["1", "n", "1", "y"], "went"), (["2", "n"], "Tool approval denied"), (["2", "y"], "went")):
        async with screen(scripted(model, tools)) as s:
            await s.say("hi")
            await s.shows("[b]Always[/b] (1)")
            s.card.focus()
            for key in keys:
                await s.pilot.press(key)
                await s.pilot.pause()
            await s.shows("That was all.")
            assert result in s.text


@pytest.mark.parametrize(("width", "rows"), [(40, 3), (120, 1)])
async def test_no_option_is_hidden_on_a_narrow_screen(width: int, rows: int) -> None:
    labels = ("Allow once", "Allow for this session", "Reject")
    kinds = ("allow-once", "allow-always", "reject-once")
    tools = Toolkit()
    options = tuple(ApprovalOption(id=kind, kind=kind, label=label) for kind, label in zip(kinds, labels, strict=True))

    @tools.frontend(needs_approval=True, approval_options=options)
    def go() -> str:
        """Go."""
        return "went"

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield ToolCallStart("x", "go")
        yield ToolArgsDelta("x", "{}")
        yield ToolArgsFinish("x")
        yield Finish("tool-calls")

    async with screen(scripted(model, tools), size=(width, 24)) as s:
        await s.say("hi")
        buttons = [f"{label} ({number})" for number, label in enumerate(labels, 1)]
        await s.until(lambda: all(button in s.text for button in buttons))
        assert sum(any(button in row for button in buttons) for row in s.rows) == rows


async def test_a_permission_that_was_left_open_can_be_given_later(folder: Path, tmp_path: Path) -> None:
    database = tmp_path / "chat.sqlite3"
    async with screen(rules(folder), database=database) as s:
        await s.say('write "hi" to notes.txt')
        await s.shows("allow?")
        await s.settled()

    async with screen(rules(folder), database=database) as s:
        await s.shows("allow?")
        await s.pilot.press("f2", "y")
        await s.shows("I created notes.txt")

    assert (folder / "notes.txt").read_text() == "hi\n"


async def test_what_is_typed_while_a_call_begins_to_ask_allows_nothing(folder: Path) -> None:
    async with screen(rules(folder)) as s:
        await s.type("yes ")
        s.thread.append('write "hi" to notes.txt')
        await s.shows("allow?")
        await s.type("yy")
        await s.pilot.pause()

        assert not (folder / "notes.txt").exists()
        assert s.thread.composer.state.text == "yes yy"
        await s.pilot.press("f2", "y")
        await s.shows("I created notes.txt")


async def test_a_key_right_after_the_focus_moved_allows_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToolCard, "grace", 60.0)
    async with screen(rules(folder)) as s:
        await s.say('write "hi" to notes.txt')
        await s.shows("allow?")
        await s.until(lambda: s.app.focused is s.card)
        await s.pilot.press("y", "1", "enter")
        await s.pilot.pause()
        await s.settled()

        assert s.card.is_asking

    assert not (folder / "notes.txt").exists()


async def test_a_running_tool_asks_and_gets_the_answer() -> None:
    tools = Toolkit()

    @tools.frontend
    async def name_it(context: ToolContext) -> str:
        """Ask for a name."""
        return f"named {await context.human({'ask': 'a name'})}"

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        if run.roundtrip:
            yield TextDelta("Thanks.")
            return
        yield ToolCallStart("a", "name_it")
        yield ToolArgsDelta("a", "{}")
        yield ToolArgsFinish("a")
        yield Finish("tool-calls")

    async with screen(scripted(model, tools)) as s:
        await s.say("hi")
        await s.shows('{"ask": "a name"}')
        await s.until(lambda: isinstance(s.app.focused, Input))
        await s.type("Ada")
        await s.pilot.press("enter")
        await s.shows("named Ada")
        await s.shows("Thanks.")


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

    async with screen(scripted(model, tools)) as s:
        await s.say("hi")
        for question, answer in (("first?", "3"), ("second?", "4")):
            await s.shows(question)
            await s.until(lambda: isinstance(s.app.focused, Input) and not s.app.focused.value)
            await s.pilot.press(answer, "enter")
        await s.shows("Thanks.")
        assert "│ 7 " in s.text


async def test_arguments_that_do_not_only_grow_are_replaced() -> None:
    outputs = [
        [{"type": "tool-call", "tool_call_id": "x", "tool_name": "look", "args_text": '{"a": 1'}],
        [{"type": "tool-call", "tool_call_id": "x", "tool_name": "look", "args_text": "{}"}],
        [{"type": "tool-call", "tool_call_id": "x", "tool_name": "look", "args_text": '{"b": 2, "a": 1}'}],
    ]
    steps = [anyio.Event() for _ in outputs]

    async def model(run: RunContext) -> AsyncGenerator[dict[str, Any], None]:  # B109
        for content, step in zip(outputs, steps, strict=True):
            yield {"content": content}
            await step.wait()

    async with screen(scripted(model)) as s:
        await s.say("hi")
        for text, step in zip(('{"a": 1', "{}", '{"b": 2, "a": 1}'), steps, strict=True):
            await s.shows(f"│ {text} ")
            step.set()
        await s.settled()
        assert len(s.app.query(ToolCard)) == 1


async def test_what_was_streamed_looks_like_what_is_opened_later() -> None:
    tools = Toolkit()

    @tools.frontend
    async def look(where: str) -> str:
        """Look somewhere."""
        return f"nothing in {where}"

    def call(call_id: str) -> list[Chunk]:
        return [
            ToolCallStart(call_id, "look"),
            ToolArgsDelta(call_id, '{"where":'),
            ToolArgsDelta(call_id, f'"{call_id}"}}'),
            ToolArgsFinish(call_id),
            Finish("tool-calls"),
        ]

    rounds: list[list[Chunk]] = [
        [TextDelta("# So\n\nlet me "), TextDelta("look"), *call("here")],
        [ReasoningDelta("hm "), ReasoningDelta("no"), TextDelta("again:"), *call("there")],
        [TextDelta("- not\n- found"), PartChunk(FilePart(data="eA==", media_type="text/plain", filename="why.txt"))],
    ]

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:  # B106
        for chunk in rounds[run.roundtrip]:
            yield chunk
            await anyio.sleep(0.01)

    async with LocalRuntime(model, tools=tools, max_steps=5) as runtime:
        looks = []
        for is_first in (True, False):
            app = ChatApp(runtime.thread)
            async with app.run_test(size=(80, 60)) as pilot:
                s = Screen(app, pilot, runtime.thread)
                if is_first:
                    await s.say("hi")
                await s.shows("[file] why.txt")
                await s.settled()
                await s.until(lambda s=s: "answering" not in s.text)
                assert s.text.count("✓ look") == 2
                looks.append(s.rows)
        assert looks[0] == looks[1]


# ---------------------------------------------------------------- cancel, failure, quit


async def test_escape_cancels_and_what_had_arrived_stays() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("as far as")
        await anyio.sleep_forever()

    async with screen(scripted(model)) as s:
        await s.say("hi")
        await s.shows("as far as")
        await s.pilot.press("escape")
        await s.shows("■ cancelled")
        await s.settled()

        assert "as far as" in s.text


async def test_escape_cancels_wherever_the_focus_is() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("as far as")
        await anyio.sleep_forever()

    async with screen(scripted(model)) as s:
        await s.say("hi")
        await s.shows("as far as")
        s.blocks[0].focus()
        await s.pilot.press("escape")
        await s.shows("■ cancelled")
        await s.settled()

        await s.until(lambda: s.app.focused is s.blocks[0])
        await s.pilot.press("escape")
        await s.until(lambda: s.app.focused is s.app.composer)


async def test_an_error_is_on_the_screen_and_the_chat_goes_on() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        if len(run.messages) == 1:
            yield TextDelta("so far")
            yield ErrorChunk("no more [b]credit[/b]")
        else:
            yield TextDelta("better now")

    async with screen(scripted(model)) as s:
        await s.say("hi")
        await s.shows("✗ error: no more [b]credit[/b]")
        assert "so far" in s.text
        await s.say("again")
        await s.shows("better now")


async def test_a_long_error_is_shown_to_its_end() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        raise RuntimeError(" ".join(f"reason{number}" for number in range(12)))
        yield

    async with screen(scripted(model), size=(40, 20)) as s:
        await s.say("hi")
        await s.settled()
        await s.shows("reason11")


async def test_an_answer_that_was_cut_says_so() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("cut")
        yield Finish("length")

    async with screen(scripted(model)) as s:
        await s.say("hi")
        await s.shows("◌ incomplete: length")


async def test_quitting_during_a_run_ends_and_stores_it(tmp_path: Path) -> None:
    is_closed = False

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        nonlocal is_closed
        try:
            yield TextDelta("as far as")
            await anyio.sleep_forever()
        finally:
            is_closed = True

    database = tmp_path / "chat.sqlite3"
    async with screen(scripted(model), database=database) as s:
        await s.say("hi")
        await s.shows("as far as")
        await s.pilot.press("ctrl+q")
        await s.until(lambda: not s.app.is_running)
    assert is_closed

    async with screen(scripted(echo), database=database) as s:
        await s.shows("as far as")
        await s.shows("■ cancelled")


async def test_nothing_stays_subscribed_when_the_app_is_closed(folder: Path) -> None:
    engine = rules(folder)
    async with LocalRuntime(engine.model, tools=engine.tools) as runtime:
        store = runtime.thread._host.document.store
        app = ChatApp(runtime.thread)
        async with app.run_test() as pilot:
            await pilot.press(*"hello", "enter")
            await pilot.pause(0.1)
            assert store.statistics().live_slices > 10
        assert store.statistics().live_slices == 0
        await runtime.thread.append("is anybody there")


async def test_a_history_that_fails_is_told(tmp_path: Path) -> None:
    database = tmp_path / "chat.sqlite3"
    async with screen(scripted(echo), database=database) as s:

        async def fail(*_: object) -> None:
            raise OSError("the disk is full")

        s.thread._host.options.history.append = fail  # type: ignore[union-attr, method-assign]  # a disk that fills up
        await s.say("hi")
        await s.shows("heard hi")
        await s.until(lambda: any("the disk is full" in note.message for note in s.app._notifications))


# ---------------------------------------------------------------- composer


async def test_keys_of_the_composer() -> None:
    async with screen(scripted(echo)) as s:
        await s.pilot.press("enter")
        await s.type("a")
        await s.pilot.press("ctrl+j", "b")
        assert s.thread.composer.state.text == "a\nb"
        assert not s.thread.state.messages

        await s.pilot.press("enter")
        await s.settled()
        assert message_text(s.thread.state.messages[0]) == "a\nb"
        await s.until(lambda: s.app.composer.text == "")


async def test_enter_during_a_run_keeps_the_draft() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("wait")
        await anyio.sleep_forever()

    async with screen(scripted(model)) as s:
        await s.say("one")
        await s.shows("wait")
        await s.say("two")
        await s.pilot.pause()

        assert s.app.composer.text == "two"
        assert len(s.thread.state.messages) == 2
        await s.pilot.press("escape")
        await s.settled()
        await s.pilot.press("enter")
        await s.until(lambda: len(s.thread.state.messages) == 4)


async def test_a_draft_that_others_change_is_shown() -> None:
    async with screen(scripted(echo)) as s:
        await s.type("typed")
        s.thread.composer.set_text("given")
        await s.until(lambda: s.app.composer.text == "given")


async def test_copy_puts_the_text_on_the_clipboard() -> None:
    async with screen(scripted(echo)) as s:
        await s.say("one")
        await s.settled()
        await s.shows("heard one")
        s.blocks[-1].focus()
        await s.pilot.press("c")
        await s.until(lambda: s.app.clipboard == "heard one")


# ---------------------------------------------------------------- long threads


def long(count: int) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [{"role": roles[number % 2], "content": f"message {number}"} for number in range(count)]


async def test_a_long_thread_mounts_its_end_and_more_when_asked() -> None:
    async with LocalRuntime(echo, messages=long(1000)) as runtime:
        app = ChatApp(runtime.thread, window=20)
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            conversation = app.query_one(Conversation)
            assert len(conversation.blocks) == 20
            button = conversation.query_one(Button)
            assert str(button.label) == "▲ 980 earlier messages"

            button.press()
            for _ in range(50):
                await pilot.pause(0.01)
                if len(conversation.blocks) == 40:
                    break
            texts = [message_text(block.view.message.value) for block in conversation.blocks]
            assert texts == [f"message {number}" for number in range(960, 1000)]

            await runtime.thread.append("and now")
            await pilot.pause(0.05)
            assert message_text(conversation.blocks[-1].view.message.value) == "heard and now"
            assert len(conversation.blocks) == 42


async def test_going_up_from_the_first_mounted_message_mounts_more() -> None:
    async with LocalRuntime(echo, messages=long(30)) as runtime:
        app = ChatApp(runtime.thread, window=10)
        async with app.run_test(size=(80, 24)) as pilot:
            s = Screen(app, pilot, runtime.thread)
            await s.until(lambda: len(s.blocks) == 10)
            s.blocks[0].focus()
            await s.pilot.press("up")
            await s.until(lambda: len(s.blocks) == 20)
            await s.until(lambda: s.app.focused is s.blocks[9])
            await s.pilot.press("down", "k", "j")
            await s.until(lambda: s.app.focused is s.blocks[10])


async def test_the_conversation_scrolls_from_the_draft() -> None:
    async with LocalRuntime(echo, messages=long(40)) as runtime:
        app = ChatApp(runtime.thread)
        async with app.run_test(size=(80, 24)) as pilot:
            s = Screen(app, pilot, runtime.thread)
            await s.shows("message 39")
            await s.pilot.press("pageup", "pageup")
            await s.until(lambda: "message 39" not in s.text)
            assert s.app.focused is s.app.composer
            await s.pilot.press("pagedown", "pagedown", "pagedown")
            await s.shows("message 39")


async def test_a_token_updates_one_widget_of_a_long_thread() -> None:
    more = anyio.Event()

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("one")
        await more.wait()
        yield TextDelta(" two")

    async with LocalRuntime(model, messages=long(100)) as runtime:
        store = runtime.thread._host.document.store
        app = ChatApp(runtime.thread)
        async with app.run_test() as pilot:
            operation = runtime.thread.append("go")
            for _ in range(10):
                await pilot.pause(0.02)
            before = store.statistics()

            more.set()
            await operation
            await pilot.pause(0.1)
            after = store.statistics()

        # The token; the status of message and part; the thread and its composer, which hear that the run has ended.
        assert after.deliveries - before.deliveries <= 12


def test_the_colours_come_from_the_theme() -> None:
    css = json.dumps(
        [ChatApp.CSS, ToolCard.DEFAULT_CSS, Conversation.DEFAULT_CSS, Sidebar.DEFAULT_CSS, ThreadLine.DEFAULT_CSS]
    )

    assert "#" not in css.replace("#top", "").replace("#composer", "")
