"""Reading the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from partwise._version import __version__

from ._attachments import refusal
from ._bench import BenchOptions, bench_options, declare_bench
from ._options import DEFAULT_THREAD, KEYS, ChatOptions, Engine, default_database

__all__ = ["parse"]

_EXAMPLES = """\
examples:
  partwise chat
  partwise chat --provider openai-responses --model gpt-5-mini
  partwise chat --provider anthropic --model claude-sonnet-4-5
  partwise chat --provider openai --base-url http://localhost:11434/v1 --model qwen3
  partwise chat --provider openai --base-url https://gateway.example/v1 --api-key-env GATEWAY_KEY --model large
  echo 'count the lines in README.md' | partwise chat --plain --no-history
  echo 'what is this about?' | partwise chat --plain --attach notes.md photo.png
  partwise chat --plain --replay answer.sse </dev/null

The rules are a small program, not a language model: they need no key and no download, and really work with the files
of the folder. A provider's model is offered the same tools; openai is Chat Completions, which most other servers speak
too. The key is read from OPENAI_API_KEY or ANTHROPIC_API_KEY; with --base-url none is sent, unless --api-key-env names
the variable that holds it. With --replay every prompt is answered by the recording, whose protocol is found out; its
tool calls are shown, not run, and nothing is stored unless --db or --thread is given. Without any prompt on stdin,
--plain --replay plays it once and exits with 0, whatever the recording ends with.

In plain mode each line of stdin is a prompt or a command; /help lists the commands. Exit codes: 0; 1 when the last
answer failed, the chat could not be opened, or not all of it could be stored; 2 for a wrong command line; 130 when
interrupted."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see '{self.prog} --help')\n")


def parse(arguments: Sequence[str], environment: Mapping[str, str]) -> ChatOptions | BenchOptions | None:
    """Read the command line.

    Args:
        arguments: What follows the program's name.
        environment: Where the key and the user's folders are looked up.

    Returns:
        What to do; None when nothing was asked for, and the help has been printed.

    Raises:
        SystemExit: With 2 after a line on stderr when something is wrong, and with 0 for `--help` and `--version`.
    """
    parser = _Parser(prog="partwise", description="Chat with language models as reactive state.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"partwise {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    chat = commands.add_parser(
        "chat",
        help="chat in the terminal",
        description="Chat in the terminal: streamed answers, tools with approval, branches, history.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _declare(chat)
    declare_bench(commands, _Parser)
    given = parser.parse_args(list(arguments))
    if given.command is None:
        parser.print_help()
        return None
    if given.command == "bench":
        return bench_options(given, parser.error)
    return _options(given, chat.error, environment)


def _declare(chat: argparse.ArgumentParser) -> None:
    chat.add_argument("--plain", action="store_true", help="line by line over stdin and stdout")
    engine = chat.add_argument_group("who answers")
    engine.add_argument(
        "--provider",
        choices=tuple(KEYS),
        metavar="NAME",
        help=f"whose model answers: {', '.join(KEYS)}; default: the rules",
    )
    engine.add_argument("--model", metavar="NAME", help="the model of --provider")
    engine.add_argument("--base-url", metavar="URL", help="another endpoint that speaks like --provider")
    engine.add_argument(
        "--api-key-env",
        type=_not_empty,
        metavar="VARIABLE",
        help="the environment variable that holds the key; default: that of --provider, or none with --base-url",
    )
    engine.add_argument(
        "--replay",
        type=_path,
        metavar="FILE",
        help="a recorded stream of any of these providers that answers in their place",
    )
    # How the first two were chosen before there were several providers.
    engine.add_argument("--engine", choices=("rules", "openai", "replay"), help=argparse.SUPPRESS)
    engine.add_argument(
        "--speed", type=_number(float, above=0), metavar="N", help="events per second of --replay; default: no waiting"
    )
    engine.add_argument(
        "--max-steps",
        type=_number(int, above=0),
        metavar="N",
        help="roundtrips to the model per answer; default: 8, of a recording 1",
    )
    kept = chat.add_argument_group("what is kept")
    kept.add_argument(
        "--db", type=_path, metavar="FILE", help="the SQLite file of the history; default: in your data folder"
    )
    kept.add_argument(
        "--thread", type=_not_empty, metavar="ID", help=f"which thread of the file; default: {DEFAULT_THREAD}"
    )
    kept.add_argument("--no-history", action="store_true", help="keep nothing")
    kept.add_argument("--show-history", action="store_true", help="in plain mode, print the thread first")
    chat.add_argument(
        "--attach",
        type=_path,
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="texts and images that are sent with the first message; in the chat: /attach FILE",
    )
    chat.add_argument(
        "--root",
        type=_path,
        default=Path(),
        metavar="DIR",
        help="the only folder that tools may touch; default: this one",
    )


def _not_empty(text: str) -> str:
    if not text.strip():
        message = f"{text!r} is no name"
        raise argparse.ArgumentTypeError(message)
    return text


def _path(text: str) -> Path:
    return Path(_not_empty(text))  # an empty path would be the current folder


def _number(kind: type[int | float], *, above: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not above < value < float("inf"):
            wanted = "a whole number" if kind is int else "a number"
            message = f"{text!r} is not {wanted} above {above:g}"
            raise argparse.ArgumentTypeError(message)
        return value

    return read


def _options(given: Any, fail: Callable[[str], NoReturn], environment: Mapping[str, str]) -> ChatOptions:
    engine: Engine = given.provider or given.engine or ("rules" if given.replay is None else "replay")
    _check(given, engine, fail)
    variable = given.api_key_env or (KEYS.get(engine) if given.base_url is None else None)
    api_key = (environment.get(variable) or None) if variable else None
    if variable and api_key is None:
        fail(_missing_key(variable, is_named=given.api_key_env is not None))
    is_kept = not given.no_history and (engine != "replay" or given.db is not None or given.thread is not None)
    return ChatOptions(
        engine=engine,
        is_plain=given.plain,
        replay=given.replay,
        speed=given.speed,
        base_url=given.base_url,
        model=given.model,
        api_key=api_key,
        key_variable=variable,
        database=(given.db or default_database(environment)) if is_kept else None,
        thread_id=given.thread or DEFAULT_THREAD,
        attached=tuple(given.attach),
        root=given.root.resolve(),
        max_steps=given.max_steps or (1 if engine == "replay" else 8),
        shows_history=given.show_history,
    )


def _missing_key(variable: str, *, is_named: bool) -> str:
    if is_named:
        return f"--api-key-env: {variable} is not set: export it, or leave the option out for an endpoint without a key"
    return f"{variable} is not set: export it, or name a server that needs no key with --base-url"


def _check(given: Any, engine: Engine, fail: Callable[[str], NoReturn]) -> None:
    """Refuse options that contradict each other, and files that are not there."""
    if given.provider is not None and given.engine is not None:
        fail("--engine is the older way to say --provider; give one of them")
    if engine == "replay" and given.replay is None:
        fail("--engine replay needs the recording: --replay FILE")
    if engine != "replay" and given.replay is not None:
        fail(f"--replay answers by itself, in the protocol of the recording; leave out {engine!r}")
    if engine != "replay" and given.speed is not None:
        fail("--speed is the speed of --replay FILE")
    if engine in KEYS and not given.model:
        fail(f"--provider {engine} needs --model NAME")
    if engine not in KEYS and (given.model or given.base_url or given.api_key_env):
        fail(f"--model, --base-url and --api-key-env need --provider NAME ({', '.join(KEYS)})")
    if given.base_url is not None and not given.base_url.startswith(("http://", "https://")):
        fail(f"--base-url: {given.base_url!r} does not begin with http:// or https://")
    if given.no_history and (given.db is not None or given.thread is not None):
        fail("--no-history cannot be combined with --db or --thread")
    _check_files(given.replay, given.db, given.root, fail)
    _check_attached(given.attach, fail)


def _check_attached(paths: Sequence[Path], fail: Callable[[str], NoReturn]) -> None:
    for path in paths:
        if (why := refusal(path)) is not None:
            fail(f"--attach: {why}")


def _check_files(replay: Path | None, db: Path | None, root: Path, fail: Callable[[str], NoReturn]) -> None:
    if replay is not None and not replay.exists():
        fail(f"--replay: there is no file {str(replay)!r}")
    for name, path in (("--replay", replay), ("--db", db)):
        if path is not None and path.is_dir():
            fail(f"{name}: {str(path)!r} is a folder")
    if not root.is_dir():
        fail(f"--root: {str(root)!r} is not a folder")
