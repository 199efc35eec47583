"""Making a whole tree of what was stored, also when some of it is unreadable or gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import attrs

from partwise.adapters import HistoryItem, LoadedHistory
from partwise.messages import MISSING, Message, Missing
from partwise.repository import Entry

from ._problems import HistoryProblem

__all__ = ["StoredMessage", "mend", "surviving_parents"]


@attrs.frozen(kw_only=True)
class StoredMessage:
    """A stored message; ``message`` is None when it cannot be read, its place is known all the same."""

    id: str
    parent_id: str | None
    message: Message | None


# A message's nearest readable ancestor: an id, None at the root, MISSING when the way up is broken.
_Parents: TypeAlias = dict[str, str | Missing | None]

_Readonly: TypeAlias = Mapping[str, str | Missing | None]


def mend(
    stored: Sequence[StoredMessage], head_id: str | None, thread_id: str
) -> tuple[LoadedHistory | None, tuple[HistoryProblem, ...]]:
    """Put everything readable into one tree with a head.

    Children of an unreadable message come under its nearest readable ancestor. A message whose parent
    is not stored, or that is its own ancestor, comes after the message that was stored before it.
    A head that is not there is replaced by the newest leaf: below the place of the old head if that is
    still known, of the whole thread otherwise.

    Args:
        stored: All messages of the thread, oldest first.
        head_id: The end of the branch that was shown.
        thread_id: For the reports.

    Returns:
        What to load (None when nothing is readable), and what had to be mended.
    """
    readable = {one.id: one.message for one in stored if one.message is not None}
    if not readable:
        return None, ()
    if head_id in readable and _is_whole(stored):
        entries = tuple(Entry(one.parent_id, one.message) for one in stored if one.message is not None)
        return LoadedHistory(entries=entries, head_id=head_id), ()
    parents = _readable_parents(stored)
    named = {one.id: one.parent_id for one in stored}
    lost = _attach_the_lost(tuple(readable), parents)
    problems = [_lost(thread_id, id_, named[id_], _placed(parents, id_)) for id_ in lost]
    if head_id is None or head_id not in readable:
        known = head_id is not None and head_id in parents
        shown = _newest_leaf(tuple(readable), parents, _placed(parents, head_id) if head_id and known else None)
        problems += [] if known else [_headless(thread_id, head_id, shown)]
        head_id = shown
    entries = tuple(Entry(_placed(parents, id_), message) for id_, message in readable.items())
    return LoadedHistory(entries=entries, head_id=head_id), tuple(problems)


def _is_whole(stored: Sequence[StoredMessage]) -> bool:
    """Whether every message is readable and comes after its parent, as in nearly every thread."""
    passed: set[str | None] = {None}
    for one in stored:
        if one.message is None or one.parent_id not in passed:
            return False
        passed.add(one.id)
    return True


def surviving_parents(items: Sequence[HistoryItem]) -> dict[str, str | None]:
    """Return, for each message that is to be deleted, the first one above it that is not."""
    above = {item.message.id: item.parent_id for item in items}
    survivors: dict[str, str | None] = {}
    for id_ in above:
        passed: set[str] = set()
        at: str | None = id_
        while at is not None and at in above and at not in passed:
            passed.add(at)
            at = above[at]
        survivors[id_] = None if at in above else at
    return survivors


def _placed(parents: _Readonly, id_: str) -> str | None:
    found = parents[id_]
    return None if found is MISSING else found


def _readable_parents(stored: Sequence[StoredMessage]) -> _Parents:
    by_id = {one.id: one for one in stored}
    parents: _Parents = {}
    for one in stored:
        climbed: dict[str, None] = {}
        at = one.id
        while at not in climbed:
            climbed[at] = None
            above = by_id[at].parent_id
            if above is None or above not in by_id:
                found: str | Missing | None = None if above is None else MISSING
                break
            if by_id[above].message is not None or above in parents:
                found = above if by_id[above].message is not None else parents[above]
                break
            at = above
        else:
            found = MISSING
        parents.update(dict.fromkeys(climbed, found))
    return parents


def _attach_the_lost(ids: Sequence[str], parents: _Parents) -> list[str]:
    """Give every message that the root does not reach a parent, in ``parents``; return those that got one."""
    children = _children(ids, parents)
    position = {id_: index for index, id_ in enumerate(ids)}
    reached = set(_below(None, children))
    moved: list[str] = []
    for index, id_ in enumerate(ids):
        if id_ in reached:
            continue
        top = _top(id_, parents, position)
        parents[top] = ids[index - 1] if index else None
        moved.append(top)
        reached.add(top)
        reached.update(_below(top, children, stop=reached))
    return moved


def _top(id_: str, parents: _Parents, position: Mapping[str, int]) -> str:
    """The message whose own parent is not there; in a circle, the one that was stored first."""
    climbed: dict[str, None] = {}
    at = id_
    while at not in climbed:
        climbed[at] = None
        above = parents[at]
        if above is None or above is MISSING:
            return at
        at = above
    way = list(climbed)
    return min(way[way.index(at) :], key=position.__getitem__)


def _children(ids: Iterable[str], parents: _Readonly) -> dict[str | None, list[str]]:
    children: dict[str | None, list[str]] = {}
    for id_ in ids:
        above = parents[id_]
        if above is not MISSING:
            children.setdefault(above, []).append(id_)
    return children


def _below(
    id_: str | None, children: Mapping[str | None, Sequence[str]], stop: set[str] | None = None
) -> Iterable[str]:
    waiting = list(children.get(id_, ()))
    seen = set(stop or ())
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        yield at
        waiting.extend(children.get(at, ()))


def _newest_leaf(ids: Sequence[str], parents: _Parents, below: str | None) -> str | None:
    children = _children(ids, parents)
    candidates: set[str | None] = set(_below(below, children))
    return next((id_ for id_ in reversed(ids) if id_ in candidates and id_ not in children), below)


def _lost(thread_id: str, id_: str, named: str | None, placed: str | None) -> HistoryProblem:
    why = "it is its own ancestor" if named == id_ else f"its parent {named!r} is not stored, or lies below it"
    where = f"after {placed!r}" if placed else "at the beginning"
    return HistoryProblem(thread_id=thread_id, message_id=id_, what=f"{why}; it was put {where}", where="parent_id")


def _headless(thread_id: str, head_id: str | None, shown: str | None) -> HistoryProblem:
    what = "no branch was marked as shown" if head_id is None else f"the branch shown ended in {head_id!r}, not stored"
    return HistoryProblem(
        thread_id=thread_id, message_id=head_id, what=f"{what}; the newest one is shown, up to {shown!r}"
    )
