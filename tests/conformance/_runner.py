"""The command: runs vectors, prints what came out, and says so with its exit code."""

import argparse
import fnmatch
import json
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from ._outcome import Differs, Failed, Outcome, Passed
from ._vectors import FAMILIES, UsageError, Vector, difference_rows, family_runner, read_vectors


@attrs.frozen
class Result:
    """The outcome of one vector.

    Attributes:
        name: The vector's name.
        why: What the vector is about, in its own words.
        outcome: What came out.
    """

    name: str
    why: str
    outcome: Outcome


def run_vectors(run: Callable[[Vector], Outcome], vectors: Iterable[Vector], rows: frozenset[str]) -> Iterator[Result]:
    """Run vectors one after the other.

    An exception of the product is a failure of that vector, and so is a difference that names a row which
    the page of differences does not have.
    """
    for vector in vectors:
        try:
            outcome = run(vector)
        except Exception:
            outcome = Failed(vector["expected"], traceback.format_exc(), "(raised)")
        if isinstance(outcome, Differs):
            missing = [row for row in outcome.rows if row not in rows]
            if missing or not outcome.rows:
                outcome = Failed("a row of docs/differences.md", missing, "(difference without a row)")
        yield Result(vector["name"], vector.get("why", ""), outcome)


def main(argv: Sequence[str]) -> int:
    """Run the command.

    Returns:
        0 if nothing failed, 1 if a vector failed, 2 if the request made no sense.
    """
    options = _parser().parse_args(argv)
    try:
        vectors = list(read_vectors(Path(options.file)))
        if options.only is not None:
            only = options.only
            vectors = [v for v in vectors if v["name"] == only or fnmatch.fnmatchcase(v["name"], only)]
            if not vectors:
                raise UsageError(f"no vector of {options.file} is called {only!r}")
        results = list(run_vectors(family_runner(options.family), vectors, difference_rows()))
    except UsageError as error:
        print(f"tests.conformance: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(_as_json(options.family, options.file, results), default=repr, ensure_ascii=False))
    else:
        _print(options.family, results)
    return 1 if any(isinstance(result.outcome, Failed) for result in results) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance",
        description="Run recorded vectors of the reference through the product.",
        epilog="Exit code: 0 nothing failed, 1 a vector failed, 2 unknown family, unreadable file or no such vector.",
    )
    parser.add_argument("family", metavar="FAMILY", help=f"one of {', '.join(FAMILIES)}")
    parser.add_argument("file", metavar="FILE", help="vectors, one JSON object a line (.jsonl, or .jsonl.xz)")
    parser.add_argument("--only", metavar="NAME", help="run the vector of this name, or those that match this pattern")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    return parser


def _counts(results: Sequence[Result]) -> dict[str, int]:
    kinds = {"passed": Passed, "failed": Failed, "differs": Differs}
    return {name: sum(isinstance(r.outcome, kind) for r in results) for name, kind in kinds.items()}


def _as_json(family: str, file: str, results: Sequence[Result]) -> dict[str, object]:
    vectors: list[dict[str, object]] = []
    for result in results:
        entry: dict[str, object] = {"name": result.name, "outcome": type(result.outcome).__name__.lower()}
        match result.outcome:
            case Failed(expected, actual, where):
                entry |= {"where": where, "expected": expected, "actual": actual}
            case Differs(rows):
                entry["rows"] = list(rows)
            case Passed():
                pass
        vectors.append(entry)
    return {"family": family, "file": file, "total": len(results), **_counts(results), "vectors": vectors}


def _print(family: str, results: Sequence[Result]) -> None:
    for result in results:
        match result.outcome:
            case Failed(expected, actual, where):
                print(f"FAILED  {result.name}  ({result.why})")
                print(f"        at {where}")
                print(f"        expected {_short(expected)}")
                print(f"        actual   {_short(actual)}")
            case Differs(rows):
                print(f"DIFFERS {result.name}  on purpose: {', '.join(f'docs/differences.md `{row}`' for row in rows)}")
            case Passed():
                pass
    counts = _counts(results)
    print(
        f"{family}: {len(results)} vectors, {counts['passed']} passed, {counts['failed']} failed, "
        f"{counts['differs']} differ on purpose"
    )


def _short(value: object) -> str:
    return _cut(value).encode("utf-8", "backslashreplace").decode()  # vectors hold halves of characters


def _cut(value: object) -> str:
    if isinstance(value, str) and "\n" in value:
        return value.replace("\n", "\n        ")
    text = json.dumps(value, default=repr, ensure_ascii=False)
    return text if len(text) <= 2000 else f"{text[:2000]}… ({len(text)} characters)"
