"""Running tools: one call, or several side by side."""

from __future__ import annotations

import inspect
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any, TypeGuard, cast

import anyio
import anyio.lowlevel
import anyio.to_thread
import attrs
from pydantic_core import to_jsonable_python

from partwise.errors import ToolArgumentsError
from partwise.messages import MISSING, ModelContent, Timing, ToolCallPart, is_blank, thaw

from ._arguments import bind_arguments, parse_arguments
from ._context import Report, ToolContext
from ._response import NO_RESULT, ToolResponse, error_response, model_content_from
from ._tool import Execute, ToModelOutput, Tool

__all__ = ["run_tool", "run_tools"]


async def run_tool(tool: Tool, part: ToolCallPart, context: ToolContext) -> ToolResponse:
    """Run one call and return its response; whatever the tool does wrong becomes an error response.

    The arguments are read strictly and validated first; if they do not fit, the tool is not run. A
    plain function runs in a worker thread: when the call is cancelled or times out, it is left
    alone there and what it returns is dropped. Cancellation passes through.

    Args:
        tool: What to run.
        part: The call.
        context: Handed to the tool if its function asks for one.

    Returns:
        The response, with the timing of the run; without a timing the tool was not run.
    """
    if tool.disabled:
        return error_response(f"Tool {tool.name!r} is disabled.")
    if tool.execute is None:
        return error_response(f"Tool {tool.name!r} does not run here.")
    try:
        arguments = bind_arguments(tool, part)
    except ToolArgumentsError as failure:
        raw = None if tool.on_invalid is None else _readable(part)
        if tool.on_invalid is None or raw is None:
            return error_response(f"{failure} The tool was not run.")
        return await _timed(tool, tool.on_invalid, raw, context)
    except Exception as failure:
        return error_response(f"The arguments of tool {tool.name!r} cannot be checked: {_describe(failure)}")
    return await _timed(tool, tool.execute, arguments, context)


async def run_tools(
    calls: Iterable[ToolCallPart],
    tools: Mapping[str, Tool],
    make_context: Callable[[ToolCallPart], ToolContext],
    on_response: Callable[[str, ToolResponse], None],
    *,
    limiter: anyio.CapacityLimiter | None = None,
) -> None:
    """Run several calls side by side; one that fails gives an error response and stops no other.

    Args:
        calls: What to run; of two calls with one id, the first.
        tools: The tools by name; a call of an unknown one gets an error response.
        make_context: Makes the context of a call.
        on_response: Called once per call as soon as it is done, with its id.
        limiter: How many run at once; None for all.
    """
    waiting = {call.tool_call_id: call for call in reversed(tuple(calls))}

    async def serve(call: ToolCallPart) -> None:
        tool = tools.get(call.tool_name)
        if tool is None:
            response = error_response(f"There is no tool named {call.tool_name!r}.")
        elif limiter is None:
            response = await run_tool(tool, call, make_context(call))
        else:
            async with limiter:
                response = await run_tool(tool, call, make_context(call))
        del waiting[call.tool_call_id]
        on_response(call.tool_call_id, response)

    async with anyio.create_task_group() as group:
        for call in reversed(tuple(waiting.values())):
            group.start_soon(serve, call)
    # A tool that cancels itself from within ends its task without an outcome and without an error.
    for call_id, call in waiting.items():
        on_response(call_id, error_response(f"Tool {call.tool_name!r} was cancelled from within."))


def _readable(part: ToolCallPart) -> Mapping[str, Any] | None:
    try:
        arguments: dict[str, Any] = thaw(parse_arguments(part))
    except ToolArgumentsError:
        return None
    return arguments


async def _timed(tool: Tool, execute: Execute, arguments: Mapping[str, Any], context: ToolContext) -> ToolResponse:
    started_at = time.time() * 1000
    value: Any = MISSING
    failure: BaseException | None = None
    scope = anyio.CancelScope() if tool.timeout is None else anyio.move_on_after(tool.timeout)
    try:
        with scope:
            value = await _call(execute, arguments, context)
    # A tool may not end the program that it runs in.
    except (Exception, SystemExit) as raised:
        failure = raised
    except BaseExceptionGroup as raised:
        raise _without_others(raised, context.on_report) from None
    timing = Timing(started_at=started_at, completed_at=time.time() * 1000)
    if failure is not None:
        # What a tool raises because it was cancelled is not an outcome of the call.
        await anyio.lowlevel.checkpoint_if_cancelled()
    if scope.cancelled_caught or (scope.cancel_called and failure is not None):
        return error_response(f"Tool {tool.name!r} did not end within {tool.timeout:g} seconds.", timing=timing)
    if failure is not None:
        return error_response(_describe(failure), timing=timing)
    return await _response(tool, value, context.on_report, timing)


def _without_others(group: BaseExceptionGroup[BaseException], report: Report) -> BaseExceptionGroup[BaseException]:
    """Return the cancellation in a group without what failed beside it, which is reported."""
    cancelled, rest = group.split(anyio.get_cancelled_exc_class())
    if cancelled is None:
        return group
    if isinstance(rest, Exception):
        report(rest)
    return cancelled


async def _call(execute: Execute, arguments: Mapping[str, Any], context: ToolContext) -> Any:
    if inspect.iscoroutinefunction(execute) or inspect.isasyncgenfunction(execute):
        value: Any = execute(arguments, context)
    else:
        value = await _in_thread(execute, arguments, context)
    if _is_stream(value):
        return await _last(value, context)
    return await value if inspect.isawaitable(value) else value


def _is_stream(value: object) -> TypeGuard[AsyncGenerator[Any, Any]]:
    return isinstance(value, AsyncGenerator)


async def _in_thread(execute: Execute, arguments: Mapping[str, Any], context: ToolContext) -> Any:
    def run() -> tuple[Any, BaseException | None]:
        try:
            return execute(arguments, context), None
        # StopIteration cannot leave a thread, nor a coroutine, as what it is.
        except StopIteration as raised:
            return None, RuntimeError(f"the tool raised {_describe(raised)}")
        # A thread is no place to end a program or to lose an exception: it is carried to the caller.
        except BaseException as raised:
            return None, raised

    value, raised = await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
    if raised is not None:
        raise raised
    return value


async def _last(values: AsyncGenerator[Any, Any], context: ToolContext) -> Any:
    last: Any = MISSING
    async with aclosing(values):
        async for value in values:
            if last is not MISSING:
                context.progress(last)
            last = value
    return last


async def _response(tool: Tool, value: Any, report: Report, timing: Timing) -> ToolResponse:
    raw: Any = value.result if isinstance(value, ToolResponse) else value
    raw = NO_RESULT if raw is MISSING else raw
    try:
        result = to_jsonable_python(raw, bytes_mode="base64", fallback=str)
        response = value if isinstance(value, ToolResponse) else ToolResponse(result)
    except Exception as failure:
        return error_response(f"The result of tool {tool.name!r} is no JSON: {_describe(failure)}", timing=timing)
    content = response.model_content
    if content is None and tool.to_model_output is not None and not response.is_error:
        content = await _model_content(tool, tool.to_model_output, raw, report)
    return attrs.evolve(response, result=result, model_content=content, timing=timing)


async def _model_content(
    tool: Tool, to_model_output: ToModelOutput, result: Any, report: Report
) -> tuple[ModelContent, ...] | None:
    try:
        output = to_model_output(result)
        return model_content_from(await output if inspect.isawaitable(output) else output)
    # The tool did its work: failing to describe it better does not undo that.
    except Exception as failure:
        failure.add_note(f"raised by to_model_output of tool {tool.name!r}; the model gets the plain result")
        report(failure)
        return None


def _describe(failure: BaseException) -> str:
    inner = _only_one_in(failure)
    if inner is not None:
        return _describe(inner)
    kind = type(failure).__name__
    try:
        text = str(failure)
    # An exception of a tool may be unable to describe itself.
    except Exception:
        return kind
    return kind if is_blank(text) else f"{kind}: {text}"


def _only_one_in(failure: BaseException) -> BaseException | None:
    if not isinstance(failure, BaseExceptionGroup):
        return None
    inside = cast("BaseExceptionGroup[BaseException]", failure).exceptions
    return inside[0] if len(inside) == 1 else None
