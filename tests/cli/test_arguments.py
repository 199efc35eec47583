"""The command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from partwise import __version__
from partwise.cli import main
from partwise.cli._arguments import parse
from partwise.cli._options import ChatOptions, default_database

HOME = {"XDG_DATA_HOME": "/data"}


def parsed(*arguments: str, **environment: str) -> ChatOptions:
    options = parse(["chat", *arguments], {**HOME, **environment})
    assert options is not None
    return options


def test_the_defaults() -> None:
    options = parsed()

    assert (options.engine, options.is_plain, options.max_steps) == ("rules", False, 8)
    assert options.database == Path("/data/partwise/chat.sqlite3")
    assert options.thread_id == "default"
    assert options.root == Path.cwd()


def test_everything_can_be_said(tmp_path: Path) -> None:
    options = parsed(
        *["--plain", "--provider", "openai", "--model", "m", "--base-url", "http://localhost/v1"],
        *["--api-key-env", "MY_KEY"],
        *["--max-steps", "3", "--db", "my.db"],
        *f"--thread t --root {tmp_path} --show-history".split(),
        MY_KEY="secret",
    )

    assert options == ChatOptions(
        engine="openai",
        is_plain=True,
        model="m",
        base_url="http://localhost/v1",
        api_key="secret",
        key_variable="MY_KEY",
        database=Path("my.db"),
        thread_id="t",
        root=tmp_path.resolve(),
        max_steps=3,
        shows_history=True,
    )
    assert "secret" not in repr(options)


@pytest.mark.parametrize(
    ("provider", "key"), [("openai", "o"), ("openai-responses", "o"), ("anthropic", "a"), (None, None)]
)
def test_a_provider_is_given_its_own_key_and_no_other(provider: str | None, key: str | None) -> None:
    arguments = () if provider is None else ("--provider", provider, "--model", "m")

    options = parsed(*arguments, OPENAI_API_KEY="o", ANTHROPIC_API_KEY="a")

    assert (options.engine, options.api_key) == (provider or "rules", key)


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic"])
def test_another_endpoint_is_given_only_the_key_that_is_named_for_it(provider: str) -> None:
    arguments = ("--provider", provider, "--model", "m", "--base-url", "http://x")
    keys = {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a", "OTHER": "other"}

    assert (parsed(*arguments, **keys).api_key, parsed(*arguments, **keys).key_variable) == (None, None)
    assert parsed(*arguments, "--api-key-env", "OTHER", **keys).api_key == "other"
    assert parsed(*arguments, "--api-key-env", "OPENAI_API_KEY", **keys).api_key == "o"
    assert parsed(*arguments[:4], "--api-key-env", "OTHER", **keys).api_key == "other"


def test_the_older_way_to_choose_still_works() -> None:
    older = parsed("--engine", "openai", "--model", "m", OPENAI_API_KEY="k")

    assert older == parsed("--provider", "openai", "--model", "m", OPENAI_API_KEY="k")
    assert parsed("--engine", "rules") == parsed()


def test_a_recording_is_an_engine_and_keeps_nothing_unless_told(tmp_path: Path) -> None:
    recording = tmp_path / "a.sse"
    recording.write_text("")

    options = parsed("--replay", str(recording), "--speed", "20")

    assert (options.engine, options.replay, options.speed) == ("replay", recording, 20)
    assert options.database is None
    assert parsed("--replay", str(recording), "--thread", "x").database is not None
    assert parsed("--replay", str(recording), "--engine", "replay").engine == "replay"


def test_a_recording_is_played_once_for_each_prompt_unless_told_otherwise(tmp_path: Path) -> None:
    recording = tmp_path / "a.sse"
    recording.write_text("")

    assert parsed("--replay", str(recording)).max_steps == 1
    assert parsed("--replay", str(recording), "--max-steps", "3").max_steps == 3


def test_no_history_keeps_nothing() -> None:
    assert parsed("--no-history").database is None


@pytest.mark.parametrize(
    ("environment", "platform", "folder"),
    [
        ({"XDG_DATA_HOME": "/x"}, "linux", Path("/x/partwise")),
        ({"XDG_DATA_HOME": "relative"}, "linux", Path.home() / ".local/share/partwise"),
        ({}, "linux", Path.home() / ".local/share/partwise"),
        ({"LOCALAPPDATA": "/app"}, "win32", Path("/app/partwise")),
    ],
)
def test_the_default_file_is_in_the_users_data_folder(environment: dict[str, str], platform: str, folder: Path) -> None:
    assert default_database(environment, platform) == folder / "chat.sqlite3"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("--engine openai", "--model"),
        ("--engine openai --model m", "OPENAI_API_KEY"),
        ("--provider openai", "--provider openai needs --model"),
        ("--provider openai --model m", "OPENAI_API_KEY"),
        ("--provider openai-responses --model m", "OPENAI_API_KEY"),
        ("--provider anthropic --model m", "ANTHROPIC_API_KEY"),
        ("--provider parrot", "parrot"),
        ("--provider openai --engine openai --model m", "--provider"),
        (f"--provider anthropic --model m --replay {__file__}", "--replay"),
        ("--engine replay", "--replay FILE"),
        ("--replay absent.sse", "absent.sse"),
        ("--model m", "--provider"),
        ("--base-url http://x", "--provider"),
        ("--api-key-env HOME", "--provider"),
        ("--provider openai --model m --api-key-env ABSENT", "ABSENT is not set"),
        ("--provider openai --model m --base-url http://x --api-key-env ABSENT", "ABSENT is not set"),
        ("--provider openai --model m --api-key-env=", "--api-key-env"),
        ("--speed 3", "--replay"),
        ("--speed 0", "above 0"),
        ("--speed inf", "above 0"),
        ("--max-steps 0", "a whole number above 0"),
        ("--max-steps 1.5", "a whole number above 0"),
        ("--no-history --db x", "--no-history"),
        ("--no-history --thread x", "--no-history"),
        ("--root absent", "absent"),
        ("--replay .", "'.' is a folder"),
        ("--db .", "'.' is a folder"),
        ("--db=", "--db"),
        ("--root=", "--root"),
        ("--thread=", "--thread"),
        ("--replay=", "--replay"),
        ("--engine openai --model m --base-url localhost:11434", "http://"),
        ("--engine parrot", "parrot"),
        ("--pla", "--pla"),
        ("--unknown", "--unknown"),
        (f"--engine openai --model m --replay {__file__}", "--replay"),
    ],
)
def test_a_wrong_command_line_is_one_line_on_stderr(
    arguments: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        parse(["chat", *arguments.split()], HOME)

    said = capsys.readouterr()
    assert raised.value.code == 2
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("partwise")
    assert named in said.err


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["dance"])

    assert raised.value.code == 2
    assert "dance" in capsys.readouterr().err


def test_nothing_asked_for_is_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "chat in the terminal" in capsys.readouterr().out


def test_help_has_examples_and_version_is_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, text in ((["chat", "--help"], "examples:"), (["--version"], f"partwise {__version__}")):
        with pytest.raises(SystemExit) as raised:
            main(arguments)
        assert raised.value.code == 0
        assert text in capsys.readouterr().out


def test_a_file_that_is_no_recording_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "a.sse"
    recording.write_text("no recording\n")

    assert main(["chat", "--plain", "--replay", str(recording)]) == 1
    said = capsys.readouterr()
    assert str(recording) in said.err
    assert len(said.err.splitlines()) == 1


def test_without_a_terminal_the_plain_chat_is_recommended(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)

    assert main(["chat", "--no-history"]) == 2
    assert "--plain" in capsys.readouterr().err


def test_a_missing_extra_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partwise.cli._main.is_on_a_terminal", lambda: True)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert main(["chat", "--no-history"]) == 1
    assert "pip install 'partwise[textual]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("provider", "sdk"), [("openai", "openai"), ("openai-responses", "openai"), ("anthropic", "anthropic")]
)
def test_a_missing_sdk_is_named(
    provider: str, sdk: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, sdk, None)

    arguments = ["chat", "--plain", "--no-history", "--provider", provider, "--model", "m", "--base-url", "http://x"]
    assert main(arguments) == 1
    assert f"pip install 'partwise[{sdk}]'" in capsys.readouterr().err
