"""Reading vector files, and the rows of the page that explains differences."""

import importlib
import json
import lzma
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ._outcome import Outcome

FAMILIES = (
    "repository",
    "should_continue",
    "message_like",
    "part_status",
    "approval_response",
    "local_run",
    "external_store",
    "composer_queue",
    "state_ops",
    "partial_json",
    "accumulate",
    "controllers",
    "codecs",
    "resumable",
    "interop",
    "tool_stream",
)
KEPT = Path(__file__).resolve().parent / "vectors"
DIFFERENCES = Path(__file__).resolve().parents[2] / "docs" / "differences.md"

Vector = dict[str, Any]


class UsageError(Exception):
    """The command was asked for something that it cannot do; the text says what and what to do."""


def family_runner(family: str) -> Callable[[Vector], Outcome]:
    """The function that runs one vector of a family.

    Raises:
        UsageError: There is no such family, or its module is not written yet.
    """
    if family not in FAMILIES:
        raise UsageError(f"unknown family {family!r}; known are {', '.join(FAMILIES)}")
    if not (Path(__file__).parent / f"{family}.py").exists():
        raise UsageError(f"family {family!r} has no module tests/conformance/{family}.py yet")
    return importlib.import_module(f"{__package__}.{family}").run


def written_families() -> tuple[str, ...]:
    """The families whose module exists."""
    return tuple(name for name in FAMILIES if (Path(__file__).parent / f"{name}.py").exists())


def read_vectors(path: Path) -> Iterator[Vector]:
    """Read the vectors of a ``.jsonl`` or ``.jsonl.xz`` file, in order.

    Raises:
        UsageError: The file is missing, or a line is not a vector.
    """
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    opener = lzma.open if path.suffix == ".xz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _parse(line, f"{path}:{number}")
    except (UnicodeDecodeError, lzma.LZMAError, EOFError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _parse(line: str, place: str) -> Vector:
    try:
        vector = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{place}: not JSON: {error}") from error
    if not isinstance(vector, dict) or not {"name", "input", "expected"} <= vector.keys():
        raise UsageError(f"{place}: a vector is an object with name, input and expected")
    return vector


def difference_rows() -> frozenset[str]:
    """Names of the rows on the page of differences (the first cell of each, in backticks)."""
    if not DIFFERENCES.is_file():
        return frozenset()
    return frozenset(re.findall(r"^\|\s*`([^`]+)`\s*\|", DIFFERENCES.read_text(encoding="utf-8"), re.MULTILINE))
