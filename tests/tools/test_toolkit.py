"""Decorated functions become tools and stay functions."""

from __future__ import annotations

import functools
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from partwise.errors import ToolDefinitionError
from partwise.messages import ApprovalOption
from partwise.tools import ModelContext, Tool, ToolContext, Toolkit, tool_from_function

if TYPE_CHECKING:
    from decimal import Decimal


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    """A place."""

    x: int
    title: str = Field(default="origin", description="What it is called.")


NO_JSON = object()


def line_count(path: str) -> int:
    """Count the lines of a text file."""
    return len(path)


def test_a_decorated_function_stays_what_it_was() -> None:
    tools = Toolkit()

    decorated = tools.frontend(line_count)

    assert decorated is line_count
    assert decorated("four") == 4
    assert [tool.name for tool in tools] == ["line_count"]


def test_name_description_and_schema_come_from_the_function() -> None:
    tools = Toolkit()
    tools.frontend(line_count)

    tool = tools["line_count"]

    assert (tool.kind, tool.description) == ("frontend", "Count the lines of a text file.")
    assert tool.parameters == {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": False,
    }


def test_options_replace_what_the_function_says() -> None:
    tools = Toolkit()
    options = (ApprovalOption(id="once", kind="allow-once"),)

    @tools.frontend(
        name="count",
        description="Count.",
        needs_approval=True,
        approval_options=options,
        timeout=2,
        display="standalone",
    )
    def function(path: str) -> int:
        """Something else."""
        return 0

    tool = tools["count"]
    assert (tool.description, tool.needs_approval, tool.approval_options) == ("Count.", True, options)
    assert (tool.timeout, tool.display) == (2, "standalone")
    assert "function" not in tools


def test_a_tool_runs_without_asking_unless_somebody_says_so() -> None:
    plain, careful = Toolkit(), Toolkit(needs_approval=True)

    plain.frontend(line_count)
    careful.frontend(line_count)
    careful.frontend(name="free", needs_approval=False)(line_count)

    assert plain["line_count"].needs_approval is False
    assert careful["line_count"].needs_approval is True
    assert careful["free"].needs_approval is False


def test_a_human_tool_has_a_schema_and_nothing_to_run() -> None:
    tools = Toolkit(needs_approval=True)

    @tools.human
    def choose(colour: Literal["red", "blue"]) -> str:
        """Let the user choose."""
        raise AssertionError

    tool = tools["choose"]
    assert (tool.kind, tool.execute, tool.display, tool.needs_approval) == ("human", None, "standalone", False)
    assert tool.parameters is not None
    assert tool.parameters["properties"] == {"colour": {"enum": ["red", "blue"], "type": "string"}}


def test_a_backend_tool_is_only_named() -> None:
    tools = Toolkit()

    @tools.backend
    def search(*anything) -> None:
        """Search."""

    tool = tools["search"]
    assert (tool.kind, tool.parameters, tool.execute, tool.description) == ("backend", None, None, None)


def google(path: str, depth: int = 1) -> None:
    """Walk a folder.

    It walks on.

    Args:
        path: Where to
            begin.
        depth (int): How deep.

    Returns:
        Nothing.
    """


def numpy(path: str, depth: int = 1) -> None:
    """Walk a folder.

    It walks on.

    Parameters
    ----------
    path
        Where to begin.
    depth : int
        How deep.
    """


def sphinx(path: str, depth: int = 1) -> None:
    """Walk a folder.

    It walks on.

    :param path: Where to begin.
    :param depth: How deep.
    """


@pytest.mark.parametrize("function", [google, numpy, sphinx], ids=lambda f: f.__name__)
def test_parameters_are_described_by_the_docstring(function: Any) -> None:
    tool = tool_from_function(function)

    assert tool.description == "Walk a folder.\n\nIt walks on."
    assert tool.parameters is not None
    assert tool.parameters["properties"] == {
        "path": {"type": "string", "description": "Where to begin."},
        "depth": {"type": "integer", "default": 1, "description": "How deep."},
    }


def test_an_annotation_describes_better_than_the_docstring() -> None:
    def walk(path: Annotated[str, Field(description="From the field.")]) -> None:
        """Walk.

        Args:
            path: From the docstring.
        """

    tool = tool_from_function(walk)

    assert tool.parameters is not None
    assert tool.parameters["properties"]["path"]["description"] == "From the field."


def f_nothing() -> None: ...
def f_default(a: int = 3) -> None: ...
def f_optional(a: float | None = None) -> None: ...
def f_limits(a: Annotated[int, Field(ge=1, le=9)]) -> None: ...
def f_lists(a: list[str], b: dict[str, int]) -> None: ...
def f_enum(a: Colour = Colour.RED) -> None: ...
def f_nested(a: Point) -> None: ...
def f_date(a: date) -> None: ...
def f_any(a: Any) -> None: ...
def f_keyword_only(*, a: bool) -> None: ...
def f_object_default(a: Any = NO_JSON) -> None: ...
def f_hidden_names(self: int, json: int, _x: int, model_config: int, copy: int, p0: int, schema: int) -> None: ...


POINT = {
    "type": "object",
    "description": "A place.",
    "properties": {
        "x": {"type": "integer"},
        "title": {"type": "string", "default": "origin", "description": "What it is called."},
    },
    "required": ["x"],
}
SNAPSHOTS: list[tuple[Any, dict[str, Any], list[str], dict[str, Any]]] = [
    (f_nothing, {}, [], {}),
    (f_default, {"a": {"type": "integer", "default": 3}}, [], {}),
    (f_optional, {"a": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None}}, [], {}),
    (f_limits, {"a": {"type": "integer", "minimum": 1, "maximum": 9}}, ["a"], {}),
    (
        f_lists,
        {
            "a": {"type": "array", "items": {"type": "string"}},
            "b": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        ["a", "b"],
        {},
    ),
    (
        f_enum,
        {"a": {"$ref": "#/$defs/Colour", "default": "red"}},
        [],
        {"Colour": {"enum": ["red", "blue"], "title": "Colour", "type": "string"}},
    ),
    (f_nested, {"a": {"$ref": "#/$defs/Point"}}, ["a"], {"Point": POINT}),
    (f_date, {"a": {"type": "string", "format": "date"}}, ["a"], {}),
    (f_any, {"a": {}}, ["a"], {}),
    (f_keyword_only, {"a": {"type": "boolean"}}, ["a"], {}),
    (f_object_default, {"a": {}}, [], {}),
    (
        f_hidden_names,
        {n: {"type": "integer"} for n in ("self", "json", "_x", "model_config", "copy", "p0", "schema")},
        ["self", "json", "_x", "model_config", "copy", "p0", "schema"],
        {},
    ),
]


@pytest.mark.parametrize(
    ("function", "properties", "required", "definitions"), SNAPSHOTS, ids=lambda v: getattr(v, "__name__", "")
)
def test_the_schema_of_a_signature(
    function: Any, properties: dict[str, Any], required: list[str], definitions: dict[str, Any]
) -> None:
    expected: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        expected["required"] = required
    if definitions:
        expected["$defs"] = definitions

    assert tool_from_function(function).parameters == expected


def test_the_context_is_not_part_of_the_schema() -> None:
    def first(context: ToolContext, a: int) -> None: ...
    def last(a: int, ctx: ToolContext | None = None) -> None: ...

    for function in (first, last):
        parameters = tool_from_function(function).parameters
        assert parameters is not None
        assert list(parameters["properties"]) == ["a"]


def test_a_bound_method_a_partial_and_a_callable_object_become_tools() -> None:
    class Shop:
        def buy(self, item: str) -> str:
            """Buy it."""
            return item

        def __call__(self, price: int) -> int:
            """Pay."""
            return price

    method = tool_from_function(Shop().buy)
    part = tool_from_function(functools.partial(google, depth=2), name="walk")
    called = tool_from_function(Shop(), name="pay")

    assert (method.name, method.description) == ("buy", "Buy it.")
    assert part.parameters is not None
    assert part.parameters["required"] == ["path"]
    assert called.description == "Pay."


def test_what_a_tool_returns_may_be_a_name_for_type_checkers_only() -> None:
    def price(item: str) -> Decimal:
        raise NotImplementedError

    assert tool_from_function(price).name == "price"


def no_annotation(a) -> None: ...
def positional_only(a: int, /) -> None: ...
def variadic(*args: int) -> None: ...
def keywords(**kwargs: int) -> None: ...
def no_schema(a: object, b: Toolkit) -> None: ...
def unresolved(a: Decimal) -> None: ...
def field_default(a: int = Field(default=1)) -> None: ...
def two_contexts(a: ToolContext, b: ToolContext) -> None: ...


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (no_annotation, "'a' has no type annotation"),
        (positional_only, "'a' is positional-only"),
        (variadic, r"\*args has no schema"),
        (keywords, r"\*\*kwargs has no schema"),
        (no_schema, "without a JSON schema"),
        (unresolved, "cannot be resolved"),
        (field_default, "is a Field"),
        (two_contexts, "two parameters of type ToolContext"),
        (lambda a: a, "no name of its own"),
        (Point, "is a class"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_function_that_cannot_become_a_tool_is_refused_with_the_reason(function: Any, why: str) -> None:
    tools = Toolkit()

    with pytest.raises(ToolDefinitionError, match=why) as caught:
        tools.frontend(function)

    assert caught.value.tool_name in {function.__name__, ""} | {"<lambda>"}
    assert len(tools) == 0


def test_a_function_that_does_not_tell_its_parameters_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="does not tell its parameters"):
        tool_from_function(getattr, name="getattr")


def test_a_docstring_that_cannot_be_parsed_is_taken_as_prose() -> None:
    def broken(a: int) -> None:
        """Do it.

        :param
        """

    tool = tool_from_function(broken)

    assert tool.description is not None
    assert tool.description.startswith("Do it.")


def test_what_is_no_function_is_refused() -> None:
    tools: Any = Toolkit()

    with pytest.raises(ToolDefinitionError, match=r"frontend\(name="):
        tools.frontend("line_count")


def test_two_tools_of_one_name_are_refused_unless_the_later_overwrites() -> None:
    tools = Toolkit()
    tools.frontend(line_count)
    first = tools["line_count"]

    with pytest.raises(ToolDefinitionError, match="rename it or set overwrite"):
        tools.frontend(line_count)
    assert tools.add(first) is first
    tools.frontend(overwrite=True)(line_count)

    assert tools["line_count"] is not first
    assert len(tools) == 1


@pytest.mark.parametrize("name", ["constructor", "__class__", "toString", "items", "get", "keys", "ü", "a.b"])
def test_any_name_is_a_name(name: str) -> None:
    tools = Toolkit()
    assert name not in tools

    tools.frontend(name=name)(line_count)

    assert tools[name].name == name
    assert tools.get_model_context().tools[name] is tools[name]


@pytest.mark.parametrize("name", ["", " ", "\ufeff"])
def test_a_blank_name_is_refused(name: str) -> None:
    with pytest.raises(ToolDefinitionError):
        Tool(name=name, kind="frontend")


@pytest.mark.parametrize("timeout", [0, -1.5])
def test_a_timeout_that_leaves_no_time_is_refused(timeout: float) -> None:
    with pytest.raises(ToolDefinitionError, match="timeout"):
        Tool(name="a", kind="frontend", timeout=timeout)


def test_a_toolkit_contributes_its_tools_and_its_instructions() -> None:
    tools = Toolkit(system="Count well.", priority=3)
    tools.frontend(line_count)

    context = tools.get_model_context()

    assert isinstance(context, ModelContext)
    assert (context.system, context.priority) == ("Count well.", 3)
    assert context.tools == {"line_count": tools["line_count"]}


def test_a_tool_of_a_plain_schema_keeps_the_schema() -> None:
    schema = {"properties": {"a": {"type": "integer"}}}

    tool = Tool.from_schema("add", schema, lambda arguments, _context: arguments["a"], description="Add.")

    assert tool.parameters == {"type": "object", **schema}
    assert (tool.kind, tool.validate, tool.runs_here) == ("frontend", None, True)
    assert schema == {"properties": {"a": {"type": "integer"}}}


def test_a_schema_that_is_no_object_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="object schema"):
        Tool.from_schema("add", {"type": "array"})
