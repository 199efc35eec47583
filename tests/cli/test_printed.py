"""An answer as lines: what is written never has to be taken back."""

from __future__ import annotations

from datetime import UTC, datetime

import attrs
from hypothesis import given
from hypothesis import strategies as st

from partwise.cli._plain._commands import Branch, Edit, Plain, Problem, Prompt, Reload, read_command
from partwise.cli._plain._printed import Printed, advance, conclude
from partwise.messages import (
    COMPLETE_STOP,
    INCOMPLETE_CANCELLED,
    RUNNING,
    AssistantMessage,
    AssistantPart,
    DataPart,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    IncompleteStatus,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
)

MESSAGE = AssistantMessage(id="a", created_at=datetime(2026, 1, 1, tzinfo=UTC), status=RUNNING)


def written(*versions: tuple[AssistantPart, ...], status: object = COMPLETE_STOP) -> str:
    printed, out = Printed(), ""
    message = MESSAGE
    for content in versions:
        message = attrs.evolve(MESSAGE, content=content)
        printed, text = advance(printed, message)
        out += text
    return out + conclude(printed, attrs.evolve(message, status=status))[1]


def call(args_text: str = "", **more: object) -> ToolCallPart:
    return ToolCallPart(tool_call_id="x", tool_name="look", args_text=args_text, **more)  # type: ignore[arg-type]  # any fields


def test_each_kind_of_part_is_one_kind_of_line() -> None:
    parts = (
        ReasoningPart("hm"),
        TextPart("Hi"),
        UrlSourcePart(id="s", url="https://a", title="A"),
        FilePart(data="eA==", media_type="text/plain", filename="a.txt"),
        ImagePart(image="data:,"),
        DataPart(name="n", data={"a": [1]}),
        GenerativeUIPart(spec={"root": "x"}),
    )

    assert written(parts).splitlines() == [
        "[thinking] hm",
        "Hi",
        "[source] A https://a",
        "[file] a.txt",
        "[image] data:,",
        '[data] n {"a": [1]}',
        '[ui] {"root": "x"}',
    ]


def test_a_call_without_arguments_has_empty_ones_and_none_is_a_result() -> None:
    assert written((call(),), (call(result=None),)) == "[tool] look {}\n[tool] look -> null\n"


def test_arguments_without_text_are_written_as_json() -> None:
    assert written((call(args={"a": 1}),)) == '[tool] look {"a": 1}\n'


def test_arguments_that_do_not_only_grow_are_written_anew() -> None:
    versions = [(call('{"a":1'),), (call("{}"),), (call('{"b":2}'),)]

    assert written(*versions).splitlines() == ['[tool] look {"a":1', "[tool] look {}", '[tool] look {"b":2}']


def test_results_of_one_tool_are_told_apart() -> None:
    calls = (call("{}", result=1), attrs.evolve(call("{}", result=2, is_error=True), tool_call_id="y"))

    assert written(calls).splitlines() == [
        "[tool] look {}",
        "[tool] look -> 1",
        "[tool] look {}",
        "[tool] look#2 failed: 2",
    ]


def test_a_long_result_is_one_bounded_line_that_says_what_is_missing() -> None:
    line = written((call("{}", result="word\n" * 10_000),)).splitlines()[1]

    assert len(line) < 500
    assert line.endswith("… (50,000 characters)")


def test_how_it_ended_is_the_last_line_unless_it_is_whole() -> None:
    assert written((TextPart("so\n"),)) == "so\n"
    assert written((TextPart("so"),), status=INCOMPLETE_CANCELLED) == "so\n[cancelled]\n"
    assert written((), status=IncompleteStatus("error", {"code": "x", "message": "a\nb"})) == "[error: a b]\n"


@given(st.lists(st.text(max_size=4), max_size=8), st.lists(st.text(max_size=4), max_size=8))
def test_text_comes_out_as_it_went_in_however_it_was_cut(first: list[str], second: list[str]) -> None:
    versions: list[tuple[AssistantPart, ...]] = [()]
    one = two = ""
    for piece in first:
        one += piece
        versions.append((TextPart(one),))
    for piece in second:
        two += piece
        versions.append((TextPart(one), TextPart(two)))

    out = written(*versions)

    between = "" if not one or not two or one.endswith("\n") else "\n"
    end = "" if not (one + two) or (two or one).endswith("\n") else "\n"
    assert out == one + between + two + end


@given(st.lists(st.text(alphabet="ab\n", max_size=4), max_size=8))
def test_each_line_of_thinking_says_so_however_it_was_cut(pieces: list[str]) -> None:
    versions: list[tuple[AssistantPart, ...]] = [()]
    text = ""
    for piece in pieces:
        text += piece
        versions.append((ReasoningPart(text),))

    lines = text.removesuffix("\n").split("\n") if text else []
    assert written(*versions) == "".join(f"[thinking] {line}".rstrip() + "\n" for line in lines)


def test_a_source_does_not_interrupt_the_text_that_names_it() -> None:
    first, second = (UrlSourcePart(id=name, url=f"https://{name}") for name in "ab")
    versions = [
        (TextPart("It rains"),),
        (TextPart("It rains"), first),
        (TextPart("It rains in Rome.\n"), first),
        (TextPart("It rains in Rome.\nAnd here."), first, second),
    ]

    assert written(*versions).splitlines() == [
        "It rains in Rome.",
        "And here.",
        "[source] https://a",
        "[source] https://b",
    ]


def test_a_source_that_is_named_again_is_one_line() -> None:
    sources = tuple(UrlSourcePart(id=str(number), url="https://a") for number in range(3))

    assert written((TextPart("One."), *sources)).splitlines() == ["One.", "[source] https://a"]


def test_a_source_comes_before_what_follows_it() -> None:
    source = UrlSourcePart(id="s", url="https://a")
    lines = ["One.", "[source] https://a", "[tool] look {}", "[tool] look -> 1"]

    assert written((TextPart("One."), source), (TextPart("One."), source, call("{}", result=1))).splitlines() == lines
    assert written((TextPart("One."), source, call("{}", result=1))).splitlines() == lines
    assert written((TextPart("One."), source, TextPart("Two."))).splitlines() == [*lines[:2], "Two."]


def test_commands_are_read_and_all_else_is_a_prompt() -> None:
    assert [read_command(line) for line in ("hi", " /help ", "/quit", "/exit", "/history", "", "/reload")] == [
        Prompt("hi"),
        Plain("help"),
        Plain("quit"),
        Plain("quit"),
        Plain("history"),
        Plain("nothing"),
        Reload(),
    ]
    assert read_command("/edit 3  a b ") == Edit(3, "a b")
    assert read_command("/branch prev") == read_command("/branch previous") == Branch("previous")
    assert read_command("/branch next") == Branch("next")
    assert read_command("//help") == Prompt("/help")
    assert read_command("/etc/passwd is what") == Prompt("/etc/passwd is what")
    assert all(isinstance(read_command(line), Problem) for line in ("/x", "/edit", "/edit a b", "/edit ² b", "/branch"))
