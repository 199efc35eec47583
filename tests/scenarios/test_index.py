"""The index of scenarios: complete for its areas, each line with a test that exists or a part that is not built."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.conftest import REPOSITORY

INDEX = Path(__file__).with_name("README.md")
LINE = re.compile(
    r"^- (?P<id>B\d{2,3}): (?P<about>[^`]+?\.)(?P<tests>(?: `[^`]+`)*)(?: not built: (?P<missing>[a-z ,]+))?$"
)
# The areas that this index is about, with the scenarios of each; their numbers have gaps.
AREAS = {
    1: (1, 3, 4, 5, 7, 8, 9),
    2: (10, 11, 13, 14, 16, 18, 20, 21, 22),
    3: (23, 24, 26, 27, 29, 31),
    4: (33, 34, 36, 38, 40, 41, 42, 45),
    5: (46, 47, 49, 50, 52, 53, 56),
    6: (57, 58, 60, 61, 62, 64),
    7: (65, 66, 67, 69, 70, 71, 73, 74, 76),
    8: (77, 78, 81, 82, 83),
    9: (85, 86, 87, 88, 90, 91),
    10: (93, 95, 97, 98, 100),
    11: (101, 102, 106, 107, 108, 109, 111, 112, 114, 116),
}


def lines() -> list[str]:
    return [line for line in INDEX.read_text(encoding="utf-8").splitlines() if line.startswith("- ")]


def parsed() -> list[re.Match[str]]:
    return [match for line in lines() if (match := LINE.match(line))]


@cache
def names_in(path: str) -> frozenset[str]:
    """The tests that a file defines, told from its text; a state machine counts by its class."""
    tree = ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = {node.name for node in tree.body if isinstance(node, functions) and node.name.startswith("test_")}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any("RuleBasedStateMachine" in ast.unparse(base) for base in node.bases):
            names.add(node.name)
    return frozenset(names)


def test_every_line_can_be_read_and_has_a_test_or_says_what_is_not_built() -> None:
    assert [line for line in lines() if not LINE.match(line)] == []
    assert [match["id"] for match in parsed() if not match["tests"] and not match["missing"]] == []


def test_every_scenario_of_the_areas_has_one_line() -> None:
    listed = [match["id"] for match in parsed()]

    assert len(listed) == len(set(listed))
    assert listed == [f"B{number:02}" for area in sorted(AREAS) for number in AREAS[area]]


def test_every_named_test_exists() -> None:
    named = [name for match in parsed() for name in re.findall(r"`([^`]+)`", match["tests"])]
    missing = [
        name
        for name in named
        if not (REPOSITORY / name.partition("::")[0]).is_file()
        or name.partition("::")[2] not in names_in(name.partition("::")[0])
    ]

    assert len(named) > 60
    assert missing == []
