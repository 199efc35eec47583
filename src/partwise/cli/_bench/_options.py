"""What `partwise bench fanout` was asked to do, and how it is asked."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import attrs

__all__ = ["ALWAYS", "DEFAULT_SIZES", "BenchOptions", "bench_options", "declare_bench"]

DEFAULT_SIZES = (10, 100, 1_000, 10_000)
ALWAYS = ("floor", "partwise", "partwise-twin", "partwise-address", "rx-pipe")
OTHERS = ("psygnal", "reaktiv", "observ", "python-redux")

_EPILOG = """\
One part of a thread changes, as it does for each token of an answer, and one listener shows it; the other listeners
show other parts. Each peer runs in a process of its own, makes the same change of the same thread, has to deliver to
exactly the listeners concerned before its time counts, and takes turns with the others. Compare ratios, not
microseconds: the machine is part of the figure. The second entry of partwise (partwise-twin) tells how much is noise.

examples:
  partwise bench fanout
  partwise bench fanout --sizes 10,10000 --json
  partwise bench fanout --peers psygnal,observ --svg fanout.svg

The peers floor, partwise, partwise-address and rx-pipe are always there. Of the others, those that are installed are
entered; --peers chooses among them."""


@attrs.frozen(kw_only=True)
class BenchOptions:
    """The settings of one race.

    Attributes:
        sizes: Numbers of slices; each message has three.
        peers: Which peers take part besides those that always do; None: all that are installed.
        is_json: Whether the result is printed as JSON.
        svg: Where the chart is written to.
        rounds: How many rounds count.
        is_quiet: Whether no progress is shown.
    """

    sizes: tuple[int, ...] = DEFAULT_SIZES
    peers: tuple[str, ...] | None = None
    is_json: bool = False
    svg: Path | None = None
    rounds: int = 30
    is_quiet: bool = False


def declare_bench(commands: Any, parser_class: type[argparse.ArgumentParser]) -> None:
    """Add the command to the parser of commands.

    Args:
        commands: What ``add_subparsers`` returned.
        parser_class: How errors are told.
    """
    bench = commands.add_parser(
        "bench", help="measure partwise beside its peers", description="Measure partwise beside its peers."
    )
    questions = bench.add_subparsers(dest="question", metavar="QUESTION", parser_class=parser_class, required=True)
    fanout = questions.add_parser(
        "fanout",
        help="what does one token cost when each of n parts is listened to?",
        description="What does one token cost when each of n parts of a thread is listened to?",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    sizes = ",".join(str(size) for size in DEFAULT_SIZES)
    fanout.add_argument("--sizes", type=_sizes, default=DEFAULT_SIZES, metavar="N,N", help=f"slices; default: {sizes}")
    fanout.add_argument("--peers", type=_peers, metavar="NAME,NAME", help=f"of {', '.join(OTHERS)}; 'none' for none")
    fanout.add_argument("--rounds", type=_rounds, default=30, metavar="N", help="rounds that count; default: 30")
    fanout.add_argument("--json", action="store_true", help="print JSON")
    fanout.add_argument("--svg", type=Path, metavar="FILE", help="write the chart to a file, too")
    fanout.add_argument("--quiet", action="store_true", help="show no progress")


def bench_options(given: Any, fail: Callable[[str], NoReturn]) -> BenchOptions:
    """Return what was asked for.

    Args:
        given: What argparse read.
        fail: Called with what is wrong.
    """
    if given.svg is not None and not given.svg.absolute().parent.is_dir():
        fail(f"--svg: {str(given.svg.parent)!r} is not a folder")
    return BenchOptions(
        sizes=given.sizes,
        peers=given.peers,
        is_json=given.json,
        svg=given.svg,
        rounds=given.rounds,
        is_quiet=given.quiet,
    )


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(dict.fromkeys(_whole(word, 1_000_000) for word in text.split(",") if word.strip()))
    if not sizes:
        message = "name at least one size, for example 10,1000"
        raise argparse.ArgumentTypeError(message)
    return tuple(sorted(sizes))


def _rounds(text: str) -> int:
    return _whole(text, 10_000)


def _whole(text: str, most: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not 1 <= value <= most:
        message = f"{text.strip()!r} is not a whole number from 1 to {most:,}"
        raise argparse.ArgumentTypeError(message)
    return value


def _peers(text: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    unknown = [word for word in words if word not in {*OTHERS, *ALWAYS, "none"}]
    if unknown:
        message = f"there is no peer {unknown[0]!r}; choose from {', '.join((*OTHERS, *ALWAYS))}"
        raise argparse.ArgumentTypeError(message)
    return tuple(word for word in words if word != "none")
