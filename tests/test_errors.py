"""The tree of errors is as its room draws it."""

import re

from partwise import errors
from partwise.errors import PartwiseError


def _drawn() -> dict[str, str]:
    """Each error that is drawn, and the one it hangs on."""
    above: list[str] = []
    tree: dict[str, str] = {}
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"([ │├└─]*)([A-Z]\w*Error)\b", line)
        if found is None:
            continue
        depth = len(found[1]) // 4 - 1
        tree[found[2]] = above[depth - 1] if depth else ""
        above[depth:] = [found[2]]
    return tree


def test_every_error_is_drawn_in_its_place_and_offered() -> None:
    defined: dict[str, str] = {PartwiseError.__name__: ""}
    waiting: list[type[Exception]] = [PartwiseError]
    while waiting:
        parent = waiting.pop()
        for child in parent.__subclasses__():
            if child.__module__.startswith(errors.__name__):
                defined[child.__name__] = parent.__name__
                waiting.append(child)

    assert _drawn() == defined
    assert sorted(errors.__all__) == sorted(defined)


def test_every_error_has_a_code_for_programs() -> None:
    assert all(isinstance(getattr(errors, name).code, str) for name in errors.__all__)
