"""Files that go with a message: from the command line, by a command, and what is said of those that cannot."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from partwise.adapters import RunContext
from partwise.cli._arguments import parse
from partwise.cli._attachments import ChatAttachments, as_label, file_at, path_of, refusal
from partwise.messages import CompleteAttachment, ImagePart, PendingAttachment, TextPart, UserMessage, message_text
from partwise.stream import Chunk, TextDelta
from tests.cli.chatting import chat, scripted
from tests.cli.screens import screen

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.md").write_text("high tide at noon\n")
    (tmp_path / "dot.png").write_bytes(PNG)
    (tmp_path / "clip.mp4").write_bytes(b"film")
    (tmp_path / "long.txt").write_bytes(b"x" * 1_000_001)
    (tmp_path / "big.log").write_bytes(b"x" * 900_000)
    (tmp_path / "odd [b]name[.md").write_text("odd")
    return tmp_path


async def reader(run: RunContext) -> AsyncGenerator[Chunk, None]:
    """Says what it was sent."""
    last = run.messages[-1]
    assert isinstance(last, UserMessage)
    files = [f"{one.name}: {_content(one)}" for one in last.attachments]
    yield TextDelta(f"{message_text(last)} | {' | '.join(files)}")


def _content(attachment: CompleteAttachment) -> str:
    (part,) = attachment.content
    if isinstance(part, ImagePart):
        return part.image[:22]
    assert isinstance(part, TextPart)
    return part.text.splitlines()[1][:40]


# ---------------------------------------------------------------- which files are taken


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gone.txt", "there is no such file; check the path"),
        (".", "it is a folder; attach the files in it"),
        ("clip.mp4", "video/mp4 is not taken; attach a text or an image"),
        ("long.txt", "it has 1,000,001 bytes, and at most 1,000,000 can be sent; attach a part of it"),
        ("no\0name", "check who may read it"),
    ],
)
def test_a_file_that_cannot_be_attached_is_named_with_what_to_do(folder: Path, name: str, why: str) -> None:
    path = folder / name
    said = refusal(path)

    assert said is not None
    assert said.startswith(f"cannot attach {str(path)!r}: ")
    assert why in said


@pytest.mark.parametrize("name", ["notes.md", "dot.png", "big.log", "odd [b]name[.md"])
async def test_what_is_taken_is_read_when_it_is_added_and_shows_its_size(folder: Path, name: str) -> None:
    assert refusal(folder / name) is None
    adapter = ChatAttachments()
    seen = [one async for one in adapter.add(file_at(folder / name))]
    (folder / name).unlink()  # it was read already
    sent = await adapter.send(seen[-1])

    assert as_label(seen[-1]) == as_label(sent)
    assert sent.extra is not None
    assert sent.extra["size"] == len(seen[-1].file.data)


async def test_a_large_file_shows_how_far_it_has_been_read(folder: Path) -> None:
    labels = [as_label(one) async for one in ChatAttachments().add(file_at(folder / "big.log"))]

    assert labels == [
        "big.log (900.0 kB) 28%",
        "big.log (900.0 kB) 56%",
        "big.log (900.0 kB) 83%",
        "big.log (900.0 kB)",
    ]


def test_sizes_are_in_words() -> None:
    def label(size: int) -> str:
        return as_label(CompleteAttachment(id="a", type="file", name="a", content=(), extra={"size": size}))

    assert [label(size) for size in (0, 999, 1_500, 2_500_000)] == [
        "a (0 bytes)",
        "a (999 bytes)",
        "a (1.5 kB)",
        "a (2.5 MB)",
    ]
    assert as_label(PendingAttachment(id="a", type="file", name="a")) == "a"


@pytest.mark.parametrize(
    ("typed", "path"),
    [("a.md", "a.md"), (" 'my file.md' ", "my file.md"), ('"x.md"', "x.md"), ("my file.md", "my file.md"), ("'", "'")],
)
def test_a_path_may_be_quoted(typed: str, path: str) -> None:
    assert path_of(typed) == Path(path)


def test_the_home_of_the_user_may_be_written_short() -> None:
    assert path_of("~/a.md") == Path.home() / "a.md"


def test_the_command_line_takes_several_files_and_refuses_the_first_bad_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes, dot, gone = (str(folder / name) for name in ("notes.md", "dot.png", "gone.md"))
    options = parse(["chat", "--attach", notes, dot, "--attach", notes], {})
    assert options is not None
    assert [path.name for path in options.attached] == ["notes.md", "dot.png", "notes.md"]  # pyright: ignore[reportAttributeAccessIssue]  # a chat's
    with pytest.raises(SystemExit) as ended:
        parse(["chat", "--attach", notes, gone], {})

    assert ended.value.code == 2
    assert f"--attach: cannot attach {gone!r}: there is no such file" in capsys.readouterr().err


# ---------------------------------------------------------------- line by line


async def test_files_of_the_command_line_go_with_the_first_message_only(folder: Path) -> None:
    attached = (folder / "notes.md", folder / "dot.png")
    said = await chat(scripted(reader), "what is this", "and now", "/history", attached=attached)

    assert said.out.splitlines() == [
        "[attached] notes.md (18 bytes)",
        "[attached] dot.png (70 bytes)",
        "what is this | notes.md: high tide at noon | dot.png: data:image/png;base64,",
        "and now | ",
        "1 you: what is this",
        "[attachment] notes.md (18 bytes)",
        "[attachment] dot.png (70 bytes)",
        "2 assistant: what is this | notes.md: high tide at noon | dot.png: data:image/png;base64,",
        "3 you: and now",
        "4 assistant: and now | ",
    ]
    assert (said.errors, said.code) == ("", 0)


async def test_a_command_attaches_shows_progress_and_takes_back(folder: Path) -> None:
    said = await chat(
        scripted(reader),
        f"/attach {folder / 'big.log'}",
        "/detach",
        f"/attach '{folder / 'odd [b]name[.md'}'",
        "look",
    )

    assert said.out.splitlines() == [
        "[attaching] big.log (900.0 kB) 28%",
        "[attaching] big.log (900.0 kB) 56%",
        "[attaching] big.log (900.0 kB) 83%",
        "[attached] big.log (900.0 kB)",
        "[attached] odd [b]name[.md (3 bytes)",
        "look | odd [b]name[.md: odd",
    ]


async def test_a_command_that_cannot_attach_says_why_and_the_chat_goes_on(folder: Path) -> None:
    said = await chat(scripted(reader), "/attach", f"/attach {folder / 'clip.mp4'}", "hello")

    first, second, third = said.out.splitlines()
    assert first == "[/attach needs a file: /attach notes.md]"
    assert second.startswith(f"[cannot attach {str(folder / 'clip.mp4')!r}: video/mp4 is not taken")
    assert third == "hello | "


async def test_sizes_are_known_in_a_later_chat(folder: Path, tmp_path: Path) -> None:
    database = tmp_path / "chat.db"
    await chat(scripted(reader), "look", database=database, attached=(folder / "notes.md",))
    said = await chat(scripted(reader), database=database, shows_history=True)

    assert "[attachment] notes.md (18 bytes)" in said.out.splitlines()


# ---------------------------------------------------------------- on the screen


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the only loop that Textual runs on
async def test_files_are_shown_in_the_draft_and_in_the_message(folder: Path) -> None:
    async with screen(scripted(reader), attached=(folder / "notes.md",)) as on:
        await on.shows("notes.md (18 bytes)")
        await on.say(f"/attach {folder / 'odd [b]name[.md'}")
        await on.shows("odd [b]name[.md (3 bytes)")
        assert on.app.composer.text == ""
        await on.say(f"/attach {folder / 'clip.mp4'}")
        await on.until(lambda: any("video/mp4 is not taken" in note.message for note in on.app._notifications))
        assert len(on.thread.state.composer.attachments) == 2
        await on.say("look")
        await on.settled()
        await on.shows("look | notes.md: high tide at noon | odd")

        assert on.app.composer.border_subtitle is None or on.app.composer.border_subtitle == ""
        assert "notes.md (18 bytes)" in on.text
        await on.say(f"/attach {folder / 'dot.png'}")
        await on.shows("dot.png (70 bytes)")
        await on.say("/detach")
        await on.until(lambda: on.thread.state.composer.attachments == ())
