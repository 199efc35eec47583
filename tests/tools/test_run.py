"""Running a tool: whatever it does, the call gets a response or the cancellation passes."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import attrs
import pytest

from partwise.errors import UnsupportedError
from partwise.messages import MISSING, FileContent, TextContent, ToolCallPart, UserMessage
from partwise.testing import settled
from partwise.tools import NO_RESULT, Tool, ToolContext, Toolkit, ToolResponse, run_tool, run_tools, tool_from_function


def call(name: str = "t", text: str = "", id: str = "tc1") -> ToolCallPart:
    return ToolCallPart(tool_call_id=id, tool_name=name, args_text=text)


def context(**more: Any) -> ToolContext:
    return ToolContext(tool_call_id="tc1", tool_name="t", message_id="m1", **more)


def tool(function: Any, **options: Any) -> Tool:
    return tool_from_function(function, name="t", **options)


async def run(function: Any, text: str = "", **options: Any) -> ToolResponse:
    return await run_tool(tool(function, **options), call(text=text), context())


def error(response: ToolResponse) -> str:
    assert response.is_error
    return response.result["error"]


async def test_an_async_function_gets_its_arguments_by_name() -> None:
    async def add(a: int, *, b: int = 2) -> int:
        return a + b

    response = await run(add, '{"a": 1}')

    assert (response.result, response.is_error, response.artifact) == (3, False, MISSING)
    assert response.timing is not None
    assert response.timing.completed_at is not None
    assert 1_600_000_000_000 < response.timing.started_at <= response.timing.completed_at


async def test_a_plain_function_runs_in_a_worker_thread() -> None:
    def where() -> bool:
        return threading.current_thread() is threading.main_thread()

    assert (await run(where)).result is False


async def test_a_plain_function_that_returns_an_awaitable_is_awaited() -> None:
    async def later() -> int:
        return 5

    assert (await run(lambda: later())).result == 5


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}])
async def test_a_value_that_looks_like_nothing_is_a_result(value: Any) -> None:
    async def give() -> Any:
        return value

    response = await run(give)

    assert response.result == value
    assert not response.is_error


async def test_a_result_becomes_json() -> None:
    async def give() -> Any:
        return {"day": date(2026, 1, 2), "set": {1}, "tuple": (1, 2), 3: object}

    response = await run(give)

    assert response.result == {"day": "2026-01-02", "set": [1], "tuple": [1, 2], "3": str(object)}
    with pytest.raises(TypeError):
        response.result["more"] = 1


async def test_a_result_that_contains_itself_is_an_error() -> None:
    async def give() -> Any:
        loop: list[Any] = []
        loop.append(loop)
        return loop

    assert "is no JSON" in error(await run(give))


async def test_a_response_is_taken_as_it_is() -> None:
    nested = UserMessage(id="u", content=(), created_at=datetime(2026, 1, 2, tzinfo=UTC))
    given = ToolResponse(1, artifact={"b": 2}, is_error=True, model_content="one", messages=[nested])

    async def give() -> ToolResponse:
        return given

    response = await run(give)

    assert attrs.evolve(response, timing=None) == given
    assert response.model_content == (TextContent("one"),)
    assert response.timing is not None


async def test_a_response_without_a_result_says_so_to_the_model() -> None:
    async def give() -> ToolResponse:
        return ToolResponse(artifact=1)

    assert (await run(give)).result == NO_RESULT


class WordlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        (ValueError("too long"), "ValueError: too long"),
        (KeyError("a"), "KeyError: 'a'"),
        (RuntimeError(), "RuntimeError"),
        (StopIteration(3), "StopIteration"),
        (SystemExit(2), "SystemExit: 2"),
        (ExceptionGroup("g", [ValueError("inside")]), "ValueError: inside"),
        (WordlessError(), "WordlessError"),
        (TimeoutError("its own"), "TimeoutError: its own"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_whatever_a_tool_raises_is_an_error_result(raised: BaseException, text: str) -> None:
    async def awaited() -> None:
        raise raised

    def plain() -> None:
        raise raised

    for function in (awaited, plain):
        response = await run(function)
        assert text in error(response)
        assert response.timing is not None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1,,}', "not complete, valid JSON"),
        ('{"path":"notes/x.txt","content":"abc', "not complete, valid JSON"),
        ("[]", "an array"),
        ('{"b": 1}', "a: Field required; b: Extra inputs are not permitted"),
        ('{"a": "1"}', "a: Input should be a valid integer"),
    ],
)
async def test_a_tool_with_wrong_arguments_is_not_run(text: str, why: str) -> None:
    ran: list[int] = []

    async def note(a: int) -> None:
        ran.append(a)

    response = await run(note, text)

    assert why in error(response)
    assert "was not run" in error(response)
    assert (ran, response.timing) == ([], None)


async def test_a_validator_that_breaks_is_an_error_result() -> None:
    def validate(arguments: Any) -> Any:
        raise ZeroDivisionError

    broken = attrs.evolve(tool(lambda: 1), validate=validate)

    assert "cannot be checked: ZeroDivisionError" in error(await run_tool(broken, call(), context()))


async def test_a_disabled_tool_and_one_that_runs_elsewhere_are_not_run() -> None:
    async def never() -> None:
        raise AssertionError

    assert "disabled" in error(await run(never, disabled=True))
    assert "does not run here" in error(await run_tool(Tool(name="t", kind="backend"), call(), context()))


async def test_a_tool_of_a_plain_schema_gets_the_arguments_as_one_mapping() -> None:
    made = Tool.from_schema("t", {}, lambda arguments, ctx: [arguments, ctx.tool_call_id])

    assert (await run_tool(made, call(text='{"constructor": 1}'), context())).result == [{"constructor": 1}, "tc1"]


async def test_arguments_may_have_names_that_python_uses_itself() -> None:
    async def odd(self: int, function: int, arguments: int, context: int) -> int:
        return self + function + arguments + context

    assert (await run(odd, '{"self": 1, "function": 2, "arguments": 3, "context": 4}')).result == 10


async def test_the_context_is_handed_over() -> None:
    async def ask(what: str, ctx: ToolContext) -> list[Any]:
        return [what, ctx.tool_call_id, ctx.tool_name, ctx.message_id, ctx.thread_id, ctx.run_config]

    told = context(thread_id="th", run_config={"k": 1})
    response = await run_tool(tool(ask), call(text='{"what": "x"}'), told)

    assert response.result == ["x", "tc1", "t", "m1", "th", {"k": 1}]


async def test_a_tool_asks_a_human_and_goes_on_with_the_answer() -> None:
    asked: list[Any] = []

    async def answer(payload: Any) -> Any:
        asked.append(payload)
        return {"yes": True}

    async def awaited(ctx: ToolContext) -> Any:
        return await ctx.human({"question": "really?"})

    def plain(ctx: ToolContext) -> Any:
        return anyio.from_thread.run(ctx.human, {"question": "really?"})

    for function in (awaited, plain):
        assert (await run_tool(tool(function), call(), context(ask_human=answer))).result == {"yes": True}
    assert asked == [{"question": "really?"}] * 2


async def test_where_nobody_can_be_asked_asking_is_an_error() -> None:
    async def ask(ctx: ToolContext) -> Any:
        return await ctx.human(1)

    assert UnsupportedError.__name__ in error(await run(ask))


async def test_the_last_value_of_a_stream_is_the_result_and_the_others_are_shown_before() -> None:
    shown: list[Any] = []
    closed: list[bool] = []

    async def count(to: int) -> AsyncIterator[int]:
        try:
            for number in range(to):
                yield number
        finally:
            closed.append(True)

    response = await run_tool(tool(count), call(text='{"to": 3}'), context(on_progress=shown.append))
    empty = await run_tool(tool(count), call(text='{"to": 0}'), context())

    assert (response.result, shown, closed) == (2, [0, 1], [True, True])
    assert empty.result == NO_RESULT


async def test_a_cancelled_stream_is_closed() -> None:
    events: list[str] = []

    async def endless() -> AsyncIterator[int]:
        try:
            yield 1
            await anyio.sleep_forever()
        finally:
            events.append("closed")

    async with anyio.create_task_group() as group:
        group.start_soon(run, endless)
        await settled()
        group.cancel_scope.cancel()

    assert events == ["closed"]


async def test_cancelling_a_tool_that_never_ends_passes_through() -> None:
    responses: list[ToolResponse] = []

    async def endless() -> None:
        await anyio.sleep_forever()

    async def serve() -> None:
        responses.append(await run(endless))

    async with anyio.create_task_group() as group:
        group.start_soon(serve)
        await settled()
        group.cancel_scope.cancel()

    assert responses == []


async def test_what_a_tool_raises_while_it_is_cancelled_is_no_outcome() -> None:
    responses: list[ToolResponse] = []
    reported: list[Exception] = []

    async def fail_late() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise ValueError

    async def nursery() -> None:
        async with anyio.create_task_group() as inner:
            inner.start_soon(fail_late)
            inner.start_soon(anyio.sleep_forever)

    async def serve(function: Any) -> None:
        responses.append(await run_tool(tool(function), call(), context(on_report=reported.append)))

    for function in (fail_late, nursery):
        async with anyio.create_task_group() as group:
            group.start_soon(serve, function)
            await settled()
            group.cancel_scope.cancel()

    assert responses == []


async def test_cancelling_does_not_wait_for_a_worker_thread() -> None:
    started, release = threading.Event(), threading.Event()

    def stubborn() -> None:
        started.set()
        release.wait()

    async with anyio.create_task_group() as group:
        group.start_soon(run, stubborn)
        await anyio.to_thread.run_sync(started.wait)
        group.cancel_scope.cancel()
    release.set()


async def test_a_tool_that_does_not_end_in_time_is_given_up() -> None:
    release = threading.Event()

    async def awaited() -> None:
        await anyio.sleep_forever()

    async def fails_on_the_way_out() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise ValueError

    for function in (awaited, fails_on_the_way_out, lambda: release.wait()):
        response = await run(function, timeout=0.01)
        assert error(response) == "Tool 't' did not end within 0.01 seconds."
        assert response.timing is not None
    release.set()


async def test_a_tool_that_ends_in_time_is_not_given_up() -> None:
    async def quick() -> int:
        return 1

    assert (await run(quick, timeout=60)).result == 1


async def test_the_model_reads_what_to_model_output_makes() -> None:
    file = FileContent(data="aGk=", media_type="text/plain")

    async def later(result: Any) -> Any:
        return [TextContent(str(result)), file]

    async def give() -> int:
        return 3

    assert (await run(give, to_model_output=lambda result: f"{result} lines")).model_content == (
        TextContent("3 lines"),
    )
    assert (await run(give, to_model_output=later)).model_content == (TextContent("3"), file)


@pytest.mark.parametrize(
    "output", [lambda _: 1 / 0, lambda _: [1], lambda _: None], ids=["raises", "nonsense", "nothing"]
)
async def test_failing_to_describe_a_result_does_not_undo_it(output: Any) -> None:
    reported: list[Exception] = []

    async def give() -> int:
        return 3

    made = tool(give, to_model_output=output)
    response = await run_tool(made, call(), context(on_report=reported.append))

    assert (response.result, response.is_error, response.model_content) == (3, False, None)
    assert len(reported) == 1
    assert "to_model_output of tool 't'" in reported[0].__notes__[0]


async def test_an_error_and_a_response_with_content_are_not_described_again() -> None:
    async def fail() -> ToolResponse:
        return ToolResponse("no", is_error=True)

    async def told() -> ToolResponse:
        return ToolResponse(1, model_content="own")

    assert (await run(fail, to_model_output=str)).model_content is None
    assert (await run(told, to_model_output=str)).model_content == (TextContent("own"),)


def kit() -> Toolkit:
    tools = Toolkit()

    @tools.frontend
    async def good(n: int) -> int:
        return n

    @tools.frontend
    async def bad() -> None:
        raise ValueError("bad")

    return tools


async def serve(calls: list[ToolCallPart], tools: Any, **options: Any) -> list[tuple[str, Any]]:
    seen: list[tuple[str, Any]] = []

    def on_response(call_id: str, response: ToolResponse) -> None:
        seen.append((call_id, response.result))

    await run_tools(calls, tools.get_model_context().tools, lambda part: context(), on_response, **options)
    return seen


async def test_one_failing_tool_does_not_touch_its_siblings() -> None:
    calls = [call("bad", id="1"), call("good", '{"n": 2}', "2"), call("nobody", id="3"), call("good", "{", "4")]

    seen = dict(await serve(calls, kit()))

    assert set(seen) == {"1", "2", "3", "4"}
    assert seen["2"] == 2
    assert seen["1"] == {"error": "ValueError: bad"}
    assert "no tool named 'nobody'" in seen["3"]["error"]
    assert "not complete" in seen["4"]["error"]


async def test_tools_run_side_by_side_and_answer_as_they_end() -> None:
    tools, first, second = Toolkit(), anyio.Event(), anyio.Event()

    @tools.frontend
    async def slow() -> str:
        first.set()
        await second.wait()
        return "slow"

    @tools.frontend
    async def quick() -> str:
        await first.wait()
        second.set()
        return "quick"

    assert await serve([call("slow", id="1"), call("quick", id="2")], tools) == [("2", "quick"), ("1", "slow")]


async def test_a_limiter_bounds_how_many_run_at_once() -> None:
    tools = Toolkit()
    running: list[int] = [0]
    most: list[int] = []

    @tools.frontend
    async def work() -> None:
        running[0] += 1
        most.append(running[0])
        await anyio.lowlevel.checkpoint()
        running[0] -= 1

    await serve([call("work", id=str(n)) for n in range(6)], tools, limiter=anyio.CapacityLimiter(2))

    assert max(most) == 2
    assert len(most) == 6


async def test_two_calls_with_one_id_run_once() -> None:
    calls = [call("good", '{"n": 1}', "1"), call("good", '{"n": 2}', "1")]

    assert await serve(calls, kit()) == [("1", 1)]


async def test_cancelling_ends_all_and_keeps_what_was_answered() -> None:
    tools, seen = kit(), []

    @tools.frontend
    async def endless() -> None:
        await anyio.sleep_forever()

    async with anyio.create_task_group() as group:
        calls = [call("endless", id="1"), call("good", '{"n": 1}', "2")]
        known = tools.get_model_context().tools
        group.start_soon(run_tools, calls, known, lambda part: context(), lambda *answer: seen.append(answer[0]))
        await settled()
        group.cancel_scope.cancel()

    assert seen == ["2"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_tool_that_cancels_itself_gets_an_error_result(anyio_backend: str) -> None:
    tools = kit()

    @tools.frontend
    async def gives_up() -> None:
        raise anyio.get_cancelled_exc_class()

    seen = dict(await serve([call("gives_up", id="1"), call("good", '{"n": 1}', "2")], tools))

    assert seen["2"] == 1
    assert "cancelled from within" in seen["1"]["error"]


async def test_a_plain_failure_beside_a_keyboard_interrupt_does_not_hide_it() -> None:
    async def interrupted() -> None:
        message = "several"
        raise BaseExceptionGroup(message, [KeyboardInterrupt(), ValueError()])

    with pytest.raises(BaseExceptionGroup) as caught:
        await run(interrupted)

    assert [type(inside) for inside in caught.value.exceptions] == [KeyboardInterrupt, ValueError]


async def test_a_failure_that_nobody_takes_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    failure = ValueError("beside")

    context().report(failure)
    context().progress(1)

    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == [failure]
