"""Selectors that are nothing but a path, such as ``lambda s: s.messages[-1].content[0].text``.

What such a function gives is what stands at the path, so that once its path is known, whoever finds
that the value there has changed has its new value, too, and need not run it again. A function is
taken for one only if each of its instructions is one step of the path that it was seen to read, in
that order; everything else is tracked at each run.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from types import CodeType, FunctionType

from partwise.reactive._paths import AT, KEY, Node, Step

# What does nothing but put an argument of a step in place.
_QUIET = frozenset(
    {
        "CACHE",
        "COPY_FREE_VARS",
        "LOAD_CONST",
        "LOAD_DEREF",
        "LOAD_FAST",
        "LOAD_FAST_BORROW",
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
        "LOAD_FAST_LOAD_FAST",
        "LOAD_SMALL_INT",
        "NOP",
        "NOT_TAKEN",
        "PRECALL",
        "RESUME",
        "RETURN_VALUE",
    }
)
_LOOKUPS = frozenset({"by_key", "get"})
_ITEM = "[]"
_CALL = "()"

# The steps that a code object takes, in the words of `_words`; None if it does anything else.
_known: dict[CodeType, tuple[str, ...] | None] = {}
_MANY = 10_000


def is_straight(selector: Callable[[object], object], base: Node, node: Node) -> bool:
    """Tell whether the selector is nothing but the path from ``base`` to ``node``.

    Args:
        selector: A function that was run, and read the value at ``node`` and no other.
        base: The place of the value that the function was given.
        node: That of the value it read.
    """
    if not isinstance(selector, FunctionType):
        return False
    code = selector.__code__
    if code not in _known:
        if len(_known) >= _MANY:
            _known.clear()
        _known[code] = _steps_of(code)
    taken = _known[code]
    path: list[Step] = []
    place = node
    while place is not base:
        if place.parent is None:
            return False
        path.append(place.step)
        place = place.parent
    path.reverse()
    if not taken or len(path) != len(taken):
        return False
    return all(word in _words(step) for word, step in zip(taken, path, strict=True))


def _steps_of(code: CodeType) -> tuple[str, ...] | None:
    if code.co_exceptiontable or code.co_cellvars or code.co_flags & _SUSPENDING:
        return None
    steps: list[str] = []
    calls = 0
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in {"LOAD_ATTR", "LOAD_METHOD"}:
            steps.append(_CALL if instruction.argval in _LOOKUPS else str(instruction.argval))
        elif name == "BINARY_SUBSCR" or (name == "BINARY_OP" and instruction.argrepr == _ITEM):
            steps.append(_ITEM)
        elif name == "CALL":
            calls += 1
        elif name not in _QUIET:
            return None
    return tuple(steps) if calls == steps.count(_CALL) else None


_SUSPENDING = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators


def _words(step: Step) -> tuple[str, ...]:
    if isinstance(step, str):
        return (step,)
    if isinstance(step, int) or step[0] == AT:
        return (_ITEM,)
    if step[0] == KEY:
        return (_ITEM, _CALL)
    return ()
