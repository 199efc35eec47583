"""The tables of the page about testing name every promise and every capability."""

import re

from partwise.runtimes import CAPABILITIES
from partwise.testing import CONTRACT
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "testing.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[str]:
    """The first cells of the table under a row of headings."""
    table = PAGE[PAGE.index(heading) :].split("\n\n")[0].splitlines()[2:]
    return [line.split("|")[1].strip() for line in table]


def test_every_promise_is_in_the_table() -> None:
    assert rows("| promise |") == [str(check) for check in CONTRACT]


def test_every_capability_is_in_the_table() -> None:
    named = re.findall(r"`(\w+)`", " ".join(rows("| capability |")))

    assert sorted(named) == sorted(CAPABILITIES)
