"""The terminal chat: branches on the screen, and where the focus is among them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from partwise.adapters import RunContext
from partwise.cli._app._tool_card import ToolCard
from partwise.messages import message_text
from partwise.stream import Chunk, TextDelta
from tests.cli.chatting import rules, scripted
from tests.cli.screens import screen


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the only loop that Textual runs on


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToolCard, "grace", 0.0)


async def echo(run: RunContext) -> AsyncGenerator[Chunk, None]:
    yield TextDelta(f"heard {message_text(run.messages[-1])}")


async def test_an_edit_makes_a_branch_and_the_picker_goes_back() -> None:
    async with screen(scripted(echo)) as s:
        await s.say("one")
        await s.shows("heard one")
        await s.settled()
        s.blocks[0].focus()
        await s.pilot.press("e")
        await s.until(lambda: s.blocks[0].query("ComposerBox"))
        await s.pilot.press("s", "enter")

        await s.shows("heard ones")
        assert "◀ 2/2 ▶" in s.text
        assert not s.app.query("MessageBlock ComposerBox")

        s.blocks[0].focus()
        await s.pilot.press("left_square_bracket")
        await s.until(lambda: "◀ 1/2 ▶" in s.text and "heard ones" not in s.text)
        assert "heard one" in s.text


async def test_the_picker_can_be_clicked() -> None:
    async with screen(scripted(echo)) as s:
        await s.say("one")
        await s.settled()
        await s.thread.reload(s.thread.state.messages[-1].id)
        await s.until(lambda: "heard one" in s.text.partition("◀ 2/2 ▶")[2])  # it moves up until the answer is there
        row = next(number for number, text in enumerate(s.rows) if "◀ 2/2 ▶" in text)

        await s.pilot.click(offset=(s.rows[row].index("◀"), row))
        await s.shows("◀ 1/2 ▶")
        await s.pilot.click(offset=(s.rows[row].index("▶"), row))
        await s.shows("◀ 2/2 ▶")


async def test_regenerating_keeps_the_first_answer_as_a_branch() -> None:
    answers = iter(["first", "second"])

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta(next(answers))

    async with screen(scripted(model)) as s:
        await s.say("hi")
        await s.shows("first")
        await s.settled()
        await s.pilot.press("escape")
        await s.until(lambda: s.app.focused is s.blocks[-1])
        await s.pilot.press("r")
        await s.shows("second")
        await s.shows("◀ 2/2 ▶")
        await s.settled()

        await s.until(lambda: s.blocks)
        s.blocks[-1].focus()
        await s.pilot.press("left_square_bracket")
        await s.shows("first")
        assert "second" not in s.text


async def test_the_focus_stays_at_its_place_when_another_branch_is_shown() -> None:
    answers = iter(["first", "second"])

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta(next(answers))

    async with screen(scripted(model)) as s:
        await s.say("hi")
        await s.settled()
        await s.pilot.press("escape")
        await s.until(lambda: s.app.focused is s.blocks[1])
        await s.pilot.press("r")
        await s.shows("second")
        await s.settled()
        await s.until(lambda: s.app.focused is s.blocks[1])

        for key, text in (("left_square_bracket", "first"), ("right_square_bracket", "second")):
            await s.pilot.press(key)
            await s.shows(text)
            await s.until(lambda: s.app.focused is s.blocks[1])
        await s.pilot.press("c")
        await s.until(lambda: s.app.clipboard == "second")


async def test_after_an_edit_the_draft_has_the_focus() -> None:
    async with screen(scripted(echo)) as s:
        await s.say("one")
        await s.settled()
        s.blocks[0].focus()
        await s.pilot.press("e")
        await s.until(lambda: s.blocks[0].query("ComposerBox"))
        await s.pilot.press("s", "enter")
        await s.shows("heard ones")
        await s.settled()

        assert s.app.focused is s.app.composer


async def test_a_call_of_an_answer_made_again_takes_the_focus(tmp_path: Path) -> None:
    async with screen(rules(tmp_path)) as s:
        await s.say("write hi to a.txt")
        await s.shows("allow?")
        await s.until(lambda: s.app.focused is s.card)
        await s.pilot.press("n")
        await s.settled()
        s.blocks[1].focus()
        await s.until(lambda: s.app.focused is s.blocks[1])
        await s.pilot.press("r")
        await s.until(lambda: s.app.focused is s.card and s.card.is_asking)


async def test_leaving_an_edit_changes_nothing() -> None:
    async with screen(scripted(echo)) as s:
        await s.say("one")
        await s.settled()
        s.blocks[0].focus()
        await s.pilot.press("e", "x", "escape")
        await s.until(lambda: not s.app.query("MessageBlock ComposerBox"))

        assert not s.thread.state.branches
        assert "you" in s.text


async def test_reopening_continues_the_thread_with_its_branches(tmp_path: Path) -> None:
    database = tmp_path / "chat.sqlite3"
    async with screen(scripted(echo), database=database) as s:
        await s.say("one")
        await s.settled()
        composer = s.thread.begin_edit(s.thread.state.messages[0].id)
        composer.set_text("two")
        await composer.send()
        await s.shows("heard two")

    async with screen(scripted(echo), database=database) as s:
        await s.shows("heard two")
        assert "◀ 2/2 ▶" in s.text
        s.blocks[0].focus()
        await s.pilot.press("left_square_bracket")
        await s.shows("heard one")
        await s.pilot.press("escape")
        s.app.composer.focus()
        await s.say("three")
        await s.shows("heard three")

        assert [message_text(message) for message in s.thread.state.messages] == [
            "one",
            "heard one",
            "three",
            "heard three",
        ]


async def test_a_question_that_was_left_without_an_answer_can_be_answered() -> None:
    async with screen(scripted(echo)) as s:
        await s.thread.append("one", starts_run=False)
        await s.shows("one")
        await s.pilot.press("escape")
        await s.until(lambda: s.app.focused is s.blocks[0])
        await s.shows("Regenerate")
        await s.pilot.press("r")
        await s.shows("heard one")
        await s.settled()

        assert [message_text(message) for message in s.thread.state.messages] == ["one", "heard one"]
        await s.until(lambda: "Regenerate" not in s.text)
