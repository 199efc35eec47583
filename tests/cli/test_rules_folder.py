from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.cli._rules import _folder, _reading, folder_tools
from partwise.messages import ToolCallPart
from partwise.tools import ToolContext, run_tool


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "node_modules").mkdir()
    (folder / "README.md").write_text("# Title\n\nHello world\n")
    (folder / "a.txt").write_text("one two\nthree")
    (folder / "sub" / "deep.py").write_text("print('hello')\n")
    (folder / ".git" / "config").write_text("hello\n")
    (folder / ".env").write_text("KEY=hello\n")
    (folder / "node_modules" / "x.js").write_text("hello\n")
    (tmp_path / "outside.txt").write_text("hello outside\n")
    return folder


async def call(root: Path, tool_name: str, /, **args: Any) -> Any:
    tool = folder_tools(root)[tool_name]
    part = ToolCallPart(tool_call_id="c", tool_name=tool_name, args=args, args_text=json.dumps(args))
    response = await run_tool(tool, part, ToolContext(tool_call_id="c"))
    if response.is_error:
        assert set(response.result) == {"error"}
        return response.result["error"]
    return response.result


def test_only_writing_needs_approval_and_offers_two_answers(root: Path) -> None:
    tools = folder_tools(root)

    assert {tool.name for tool in tools if tool.needs_approval} == {"write_file"}
    assert [option.kind for option in tools["write_file"].approval_options] == ["allow-once", "reject-once"]
    assert {tool.name for tool in tools} == {
        "list_files",
        "read_file",
        "search_files",
        "count",
        "calculate",
        "write_file",
    }
    assert all(tool.description and tool.parameters for tool in tools)


# ---------------------------------------------------------------- what may be touched

OUTSIDE = [
    "../outside.txt",
    "sub/../../outside.txt",
    "/etc/passwd",
    "~/x",
    "C:\\x",
    "..\\outside.txt",
    "sub/..",
    "a\0b",
]


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("tool_name", ["list_files", "read_file", "count", "search_files", "write_file"])
async def test_a_path_that_leads_out_is_refused_by_every_tool(root: Path, tool_name: str, path: str) -> None:
    args = {"write_file": {"text": "x"}, "search_files": {"text": "hello"}}.get(tool_name, {})

    answer = await call(root, tool_name, path=path, **args)

    assert isinstance(answer, str)
    assert "path" in answer or "folder" in answer
    assert (root.parent / "outside.txt").read_text() == "hello outside\n"


@pytest.mark.parametrize("path", [".env", ".git", ".git/config", "sub/.hidden"])
async def test_hidden_things_stay_private_when_they_are_named(root: Path, path: str) -> None:
    assert "hidden" in await call(root, "read_file", path=path)
    assert "hidden" in await call(root, "write_file", path=path, text="x")


async def test_links_out_of_the_folder_lead_nowhere(root: Path) -> None:
    (root / "link.txt").symlink_to(root.parent / "outside.txt")
    (root / "up").symlink_to(root.parent, target_is_directory=True)
    (root / "secret.txt").symlink_to(root / ".env")
    (root / "loop").symlink_to(root / "loop")

    assert "leads out" in await call(root, "read_file", path="link.txt")
    assert "leads out" in await call(root, "read_file", path="up/outside.txt")
    assert "leads out" in await call(root, "write_file", path="link.txt", text="x")
    assert "leads out" in await call(root, "write_file", path="up/new.txt", text="x")
    assert "hidden" in await call(root, "read_file", path="secret.txt")
    assert isinstance(await call(root, "read_file", path="loop"), str)
    found = [await call(root, "search_files", text=text) for text in ("outside", "KEY")]
    assert [one["matches"] for one in found] == [[], []]
    assert {"name": "loop", "size": len(str(root / "loop"))} in (await call(root, "list_files"))["entries"]
    assert not (root.parent / "new.txt").exists()


async def test_a_link_inside_the_folder_is_followed(root: Path) -> None:
    (root / "link.txt").symlink_to(root / "a.txt")

    assert (await call(root, "read_file", path="link.txt"))["text"] == "one two\nthree"
    await call(root, "write_file", path="link.txt", text="new")
    assert (root / "link.txt").is_symlink()
    assert (root / "a.txt").read_text() == "new\n"


@given(
    path=st.text(max_size=12)
    | st.lists(st.sampled_from(["..", ".", "/", "a", "\\", "~", "C:"]), max_size=6).map("".join)
)
def test_no_text_names_a_place_outside(path: str) -> None:
    folder = _folder.Folder(Path(os.sep) / "nowhere" / "root")
    try:
        place = folder.place(path)
    except _folder.InvalidInputError:
        return
    assert place.is_relative_to(folder.root)


# ---------------------------------------------------------------- listing


async def test_a_list_shows_folders_first_and_counts_what_it_leaves_out(root: Path) -> None:
    assert await call(root, "list_files") == {
        "path": ".",
        "entries": [{"name": "sub/"}, {"name": "README.md", "size": 21}, {"name": "a.txt", "size": 13}],
        "hidden": 3,
        "more": 0,
    }


async def test_a_pattern_looks_below_the_folder_too(root: Path) -> None:
    answer = await call(root, "list_files", pattern="*.PY")

    assert answer["entries"] == [{"name": "sub/deep.py", "size": 15}]


async def test_a_long_list_is_cut_and_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_reading, "_MOST_ENTRIES", 2)

    answer = await call(root, "list_files")

    assert (len(answer["entries"]), answer["more"]) == (2, 1)


async def test_a_walk_through_too_many_files_stops_and_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_folder, "MOST_VISITED", 1)

    assert "stopped" in (await call(root, "search_files", text="hello"))["note"]


# ---------------------------------------------------------------- reading and counting


@pytest.mark.parametrize("path", ["README.md", "readme.MD", "readme", " README.md ", "./README.md"])
async def test_a_name_may_be_in_other_letters_or_lack_its_ending(root: Path, path: str) -> None:
    answer = await call(root, "read_file", path=path)

    assert answer == {"path": "README.md", "text": "# Title\n\nHello world\n"}


async def test_a_name_that_fits_two_files_is_not_guessed(root: Path) -> None:
    (root / "readme.txt").write_text("")

    assert "no 'readme'" in await call(root, "read_file", path="readme")


async def test_a_missing_file_is_an_answer_that_names_what_is_near(root: Path) -> None:
    assert await call(root, "read_file", path="REDME.md") == (
        "There is no 'REDME.md' in the folder. Did you mean README.md?"
    )
    assert await call(root, "count", path="nothing/like/it") == "There is no 'nothing/like/it' in the folder."


async def test_folders_and_devices_are_no_files(root: Path) -> None:
    os.mkfifo(root / "pipe")

    assert "is a folder" in await call(root, "read_file", path="sub")
    assert "not a regular file" in await call(root, "read_file", path="pipe")
    assert "not a regular file" in await call(root, "write_file", path="pipe", text="x")
    assert "is a folder" in await call(root, "write_file", path="sub", text="x")


@pytest.mark.parametrize("content", [b"a\0b", b"\xff\xfe\x41", "héllo".encode("latin-1")])
async def test_binary_files_are_told_apart(root: Path, content: bytes) -> None:
    (root / "bin").write_bytes(content)

    assert "binary" in await call(root, "read_file", path="bin")
    assert "binary" in await call(root, "count", path="bin")
    assert (await call(root, "search_files", text="one"))["unreadable"] == 1


async def test_a_huge_file_is_not_read_and_the_answer_says_how_large_is_too_large(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_reading, "LARGEST_READ", 10)

    assert await call(root, "read_file", path="a.txt") == "'a.txt' has 13 bytes; I read files of at most 10 bytes."
    assert (await call(root, "count", path="a.txt"))["lines"] == 2


COUNTS = {
    "": (0, 0, 0),
    "a": (1, 1, 1),
    "a\n": (1, 1, 2),
    "\n": (1, 0, 1),
    "a b\n\nc": (3, 3, 6),
    "a\r\nb\r\n": (2, 2, 6),
    "héé 😀\n": (1, 2, 6),
}


@pytest.mark.parametrize("text", COUNTS)
async def test_lines_words_and_characters_are_counted(root: Path, text: str) -> None:
    (root / "c.txt").write_bytes(text.encode())

    counted = await call(root, "count", path="c.txt", what="all")

    assert (counted["lines"], counted["words"], counted["characters"]) == COUNTS[text]
    assert await call(root, "count", path="c.txt", what="words") == {"path": "c.txt", "words": COUNTS[text][1]}


@given(text=st.text(alphabet="ab \n\té", max_size=40), block=st.integers(1, 5))
def test_counting_does_not_depend_on_where_blocks_end(text: str, block: int) -> None:
    counted = _reading._Counted()
    for start in range(0, len(text), block):
        counted = counted.after(text[start : start + block])

    lines = text.count("\n") + (not text.endswith("\n") and text != "")
    assert (counted.whole_lines, counted.words, counted.characters) == (lines, len(text.split()), len(text))


async def test_a_byte_order_mark_is_no_character(root: Path) -> None:
    (root / "bom.txt").write_bytes(b"\xef\xbb\xbfab")

    assert (await call(root, "count", path="bom.txt", what="characters"))["characters"] == 2


# ---------------------------------------------------------------- searching


async def test_a_search_finds_lines_in_any_letters_and_leaves_out_what_is_hidden(root: Path) -> None:
    assert await call(root, "search_files", text="HELLO") == {
        "text": "HELLO",
        "path": ".",
        "matches": [
            {"path": "README.md", "line": 3, "text": "Hello world"},
            {"path": "sub/deep.py", "line": 1, "text": "print('hello')"},
        ],
        "more": 0,
        "files_searched": 3,
        "hidden": 3,
        "unreadable": 0,
    }


async def test_a_search_can_be_limited_to_a_file_or_a_folder(root: Path) -> None:
    assert len((await call(root, "search_files", text="hello", path="sub"))["matches"]) == 1
    assert len((await call(root, "search_files", text="hello", path="a.txt"))["matches"]) == 0


async def test_many_matches_are_cut_and_counted_and_long_lines_are_cut(root: Path) -> None:
    (root / "many.txt").write_text("needle " * 100 + "\n" + "needle\n" * 99)

    answer = await call(root, "search_files", text="needle")

    assert (len(answer["matches"]), answer["more"]) == (50, 50)
    assert len(answer["matches"][0]["text"]) == 200


async def test_searching_for_nothing_is_refused(root: Path) -> None:
    assert "nothing to search for" in await call(root, "search_files", text="  ")


# ---------------------------------------------------------------- writing


async def test_writing_makes_the_file_and_its_folders(root: Path) -> None:
    answer = await call(root, "write_file", path="new/deep/x.txt", text="hello")

    assert answer == {"path": "new/deep/x.txt", "action": "created", "bytes": 6}
    assert (root / "new/deep/x.txt").read_text() == "hello\n"


async def test_overwriting_replaces_everything_keeps_the_mode_and_leaves_nothing_beside(root: Path) -> None:
    (root / "a.txt").chmod(0o640)

    answer = await call(root, "write_file", path="a.txt", text="x\n")

    assert answer["action"] == "replaced"
    assert (root / "a.txt").read_text() == "x\n"
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o640
    assert sorted(os.listdir(root)) == [".env", ".git", "README.md", "a.txt", "node_modules", "sub"]


async def test_appending_begins_on_a_line_of_its_own(root: Path) -> None:
    assert (await call(root, "write_file", path="a.txt", text="four", append=True))["action"] == "extended"
    await call(root, "write_file", path="a.txt", text="five", append=True)
    await call(root, "write_file", path="new.txt", text="first", append=True)

    assert (root / "a.txt").read_text() == "one two\nthree\nfour\nfive\n"
    assert (root / "new.txt").read_text() == "first\n"


async def test_writing_too_much_at_once_is_refused(root: Path) -> None:
    assert "at most 1,000,000 bytes" in await call(root, "write_file", path="x.txt", text="x" * 1_000_001)
    assert not (root / "x.txt").exists()


async def test_what_the_system_refuses_is_an_answer(root: Path) -> None:
    assert isinstance(await call(root, "write_file", path="a.txt/x", text="x"), str)
    assert isinstance(await call(root, "write_file", path="x" * 300, text="x"), str)
    assert isinstance(await call(root, "read_file", path="x" * 300), str)


async def test_arithmetic_is_a_tool_too(root: Path) -> None:
    assert await call(root, "calculate", expression="2+3*4") == {"expression": "2+3*4", "value": "14"}
    assert (await call(root, "calculate", expression="1/3"))["about"] == "0.333333333333"
    assert "divides by zero" in await call(root, "calculate", expression="1/0")
