"""What running one vector can come to."""

from typing import TypeAlias

import attrs


@attrs.frozen
class Passed:
    """The product did what was recorded."""


@attrs.frozen
class Failed:
    """The product did something else.

    Attributes:
        expected: The recorded value at the place of the first difference.
        actual: The product's value there.
        where: The place, for example ``steps[3].path``.
    """

    expected: object
    actual: object
    where: str


@attrs.frozen
class Differs:
    """The product did something else on purpose.

    Attributes:
        rows: Names of the rows of ``docs/differences.md`` that say why.
    """

    rows: tuple[str, ...]


Outcome: TypeAlias = Passed | Failed | Differs


def passed() -> Passed:
    """The outcome of a vector that holds."""
    return Passed()


def failed(expected: object, actual: object, where: str) -> Failed:
    """The outcome of a vector that does not hold; see `Failed`."""
    return Failed(expected, actual, where)


def differs(*rows: str) -> Differs:
    """The outcome of a vector that is not followed on purpose; names the rows that explain it."""
    return Differs(rows)


def first_difference(expected: object, actual: object, where: str = "") -> Failed | None:
    """Find the first place where two JSON values differ.

    Booleans and numbers are told apart, as they are in JSON.

    Returns:
        A failure that points at the place, or None if the values are equal.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in [*expected, *(key for key in actual if key not in expected)]:
            if key not in actual or key not in expected:
                return Failed(expected.get(key, "(absent)"), actual.get(key, "(absent)"), f"{where}.{key}")
            found = first_difference(expected[key], actual[key], f"{where}.{key}")
            if found is not None:
                return found
        return None
    if isinstance(expected, list) and isinstance(actual, list):
        for index, (one, other) in enumerate(zip(expected, actual, strict=False)):
            found = first_difference(one, other, f"{where}[{index}]")
            if found is not None:
                return found
        return None if len(expected) == len(actual) else Failed(expected, actual, where)
    if expected == actual and isinstance(expected, bool) == isinstance(actual, bool):
        return None
    return Failed(expected, actual, where)
