"""Running tools that ask a human."""

from __future__ import annotations

import anyio
import pytest

import partwise as pw
from partwise.errors import NotAllowedError
from partwise.stream import TextDelta
from tests.runtimes.scenes import Script, calls, last, settled, status_of, statuses, talking, tool_call


async def test_a_running_tool_asks_a_human_and_gets_the_answer() -> None:
    tools = pw.Toolkit()

    @tools.frontend
    async def book(context: pw.ToolContext) -> str:
        seat = await context.human({"question": "seat?"})
        meal = await context.human({"question": "meal?"})
        return f"{seat} {meal}"

    async with talking(Script(calls("book"), [TextDelta("booked")]), tools=tools) as thread:
        operation = thread.append("hi")
        await settled()
        assert statuses(thread) == ["requires-action/interrupt"]
        assert tool_call(thread).interrupt.payload == {"question": "seat?"}
        thread.resume_tool_call("c0", "12A")
        assert tool_call(thread).interrupt is None
        assert statuses(thread) == ["running"]
        await settled()
        assert tool_call(thread).interrupt.payload == {"question": "meal?"}
        thread.resume_tool_call("c0", "soup")
        await operation
        assert tool_call(thread).result == "12A soup"
        assert statuses(thread) == ["complete/unknown"]
        with pytest.raises(NotAllowedError) as caught:
            thread.resume_tool_call("c0", "again")
        assert (caught.value.code, caught.value.id) == ("not-waiting", "c0")


async def test_two_tools_that_ask_are_answered_on_their_own() -> None:
    tools = pw.Toolkit()

    @tools.frontend
    async def ask(context: pw.ToolContext) -> str:
        return await context.human("?")

    async with talking(Script(calls("ask", "ask"), [TextDelta("x")]), tools=tools) as thread:
        operation = thread.append("hi")
        await settled()
        thread.resume_tool_call("c1", "b")
        assert statuses(thread) == ["requires-action/interrupt"]
        thread.resume_tool_call("c0", "a")
        await operation
        assert (tool_call(thread, "c0").result, tool_call(thread, "c1").result) == ("a", "b")


@pytest.mark.parametrize("how", ["cancel", "detach", "supersede"])
async def test_a_question_dies_with_its_run(how: str) -> None:
    tools = pw.Toolkit()

    @tools.frontend
    async def ask(context: pw.ToolContext) -> str:
        return await context.human("?")

    async with talking(Script(calls("ask"), [TextDelta("x")]), tools=tools) as thread:
        operation = thread.append("hi")
        await settled()
        answer = last(thread).id
        match how:
            case "cancel":
                thread.cancel_run()
            case "detach":
                thread.detach()
            case _:
                await thread.append("never mind")
        await operation
        message = thread.find(answer).message
        assert status_of(message) == "incomplete/cancelled"
        assert message.content[0].interrupt is None
        with pytest.raises(NotAllowedError):
            thread.resume_tool_call("c0", "late")
        await thread.append("on we go")


async def test_a_question_that_its_tool_gives_up_is_not_shown_any_more() -> None:
    tools = pw.Toolkit()
    go_on = anyio.Event()

    @tools.frontend
    async def ask(context: pw.ToolContext) -> str:
        with anyio.move_on_after(0):
            await context.human("?")
        await go_on.wait()
        return "gave up"

    async with talking(Script(calls("ask"), [TextDelta("x")]), tools=tools) as thread:
        operation = thread.append("hi")
        await settled()
        assert tool_call(thread).interrupt is None
        assert statuses(thread) == ["running"]
        go_on.set()
        await operation
        assert tool_call(thread).result == "gave up"
