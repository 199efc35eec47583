"""What a type checker knows about tools."""

from collections.abc import Awaitable, Mapping
from typing import assert_type

from partwise.tools import ModelContext, Tool, ToolContext, Toolkit, ToolResponse, merge_contexts, run_tool

tools = Toolkit()


@tools.frontend
def plain(path: str) -> int:
    return len(path)


@tools.frontend(name="other", needs_approval=lambda arguments: "n" in arguments, timeout=5)
async def awaited(n: int, context: ToolContext) -> str:
    return str(n)


@tools.human(description="Choose one.")
def choose(colour: str) -> str:
    raise NotImplementedError


def a_decorated_function_keeps_its_type() -> Awaitable[str]:
    assert_type(plain("x"), int)
    assert_type(choose("red"), str)
    return awaited(1, ToolContext(tool_call_id="1"))


def a_toolkit_holds_tools() -> None:
    assert_type(tools["plain"], Tool)
    assert_type(tools.get_model_context(), ModelContext)


def a_context_holds_tools_by_name(first: ModelContext, second: ModelContext) -> Mapping[str, Tool]:
    return merge_contexts([first, second]).tools


assert_type(run_tool.__name__, str)
assert_type(ToolResponse(1).is_error, bool)
