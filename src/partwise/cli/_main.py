"""The way from the command line to a chat."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Sequence

import anyio

from partwise.errors import PartwiseError

from ._arguments import parse
from ._bench import BenchOptions
from ._engine import Answering, choose
from ._options import ChatOptions

__all__ = ["is_on_a_terminal", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the `partwise` command.

    Args:
        arguments: What follows the program's name; None is the process's own command line.

    Returns:
        The exit code. A wrong command line raises ``SystemExit`` instead, as argparse does.
    """
    options = parse(sys.argv[1:] if arguments is None else arguments, os.environ)
    if options is None:
        return 0
    if isinstance(options, BenchOptions):
        from ._bench._fanout import run_bench  # loads what a chat does not need

        try:
            return run_bench(options)
        except KeyboardInterrupt:
            return 130
    try:
        engine = choose(options)
    except (PartwiseError, ImportError) as error:
        return _fail(str(error), 1)
    try:
        return _chat(options, engine)
    except KeyboardInterrupt:
        return 130


def _chat(options: ChatOptions, engine: Answering) -> int:
    if options.is_plain:
        from ._run_plain import run_plain  # each face loads what it needs

        return anyio.run(functools.partial(run_plain, options, engine))
    if not is_on_a_terminal():
        return _fail("the chat needs a terminal; use --plain for pipes", 2)
    if importlib.util.find_spec("textual") is None:
        return _fail("the terminal chat needs textual: pip install 'partwise[textual]' (or use --plain)", 1)
    from ._app import run_app  # needs an extra

    return anyio.run(functools.partial(run_app, options, engine))


def is_on_a_terminal() -> bool:
    """Whether somebody sits at both ends."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _fail(text: str, code: int) -> int:
    print(f"partwise: error: {text}", file=sys.stderr)
    return code
