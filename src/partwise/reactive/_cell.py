"""A live slice: its last value, what it depends on, and who listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import attrs

from partwise.reactive._address import GONE, describe, resolve
from partwise.reactive._bag import Bag
from partwise.reactive._evaluate import Outcome, Selector, evaluate_plainly, evaluate_tracked
from partwise.reactive._paths import MISSING, Node, Step
from partwise.reactive._straight import is_straight

Comparer = Callable[[object, object], bool]


@attrs.frozen(weakref_slot=False)
class Recipe:
    """How a slice gets its value from a snapshot.

    Attributes:
        path: The address from which it starts; empty for the whole snapshot.
        selectors: Functions applied one after the other; all but the first see plain values.
        eq: Compares values that are not the same object; equal ones are not emitted.
        earlier: Compares what each selector but the last gives; equal ones go no further.
    """

    path: tuple[Step, ...]
    selectors: tuple[Selector, ...]
    eq: Comparer
    earlier: tuple[Comparer, ...] = ()

    def then(self, selector: Selector, eq: Comparer) -> Recipe:
        """Return the recipe of a slice derived from the one of this recipe."""
        earlier = (*self.earlier, self.eq) if self.selectors else ()
        return Recipe(self.path, (*self.selectors, selector), eq, earlier)

    def read(self, state: object) -> Outcome:
        """Compute the value without recording anything; ``MISSING`` or ``GONE`` if nothing is there."""
        value = resolve(self.path, state)
        if value is MISSING or value is GONE:
            return Outcome(value, ())
        for selector in self.selectors:
            outcome = evaluate_plainly(selector, value)
            if outcome.error is not None:
                return outcome
            value = outcome.value
        return Outcome(value, ())

    def __str__(self) -> str:
        steps = [describe(self.path)]
        steps += [getattr(selector, "__qualname__", repr(selector)) for selector in self.selectors]
        return " -> ".join(steps)


class Listener(Protocol):
    """Somebody who listens to a cell: a subscription."""

    active: bool
    since: int
    cell: Cell | None
    source: object
    on_next: Callable[[object], object]

    def complete(self) -> None:
        """Tell the listener that there will be no more values."""
        ...


class Owner(Protocol):
    """The slice that a cell belongs to."""

    cell: Cell | None
    recipe: Recipe


class Cell:
    """The state of a slice while it has listeners.

    Attributes:
        owner: The slice.
        node: The place of its address in the index.
        nodes: The places it depends on.
        broad: Whether it is evaluated at every commit.
        value: The last good value, or ``MISSING``.
        ended: Whether its address has gone.
        warned: Whether the debug mode has complained about it.
        serial: Its place in the order of delivery.
        listeners: Who is told.
        is_straight: Whether its value is what stands at the one place it depends on, nothing else.
    """

    __slots__ = (
        "broad",
        "ended",
        "is_straight",
        "listeners",
        "node",
        "nodes",
        "owner",
        "serial",
        "stages",
        "value",
        "warned",
    )

    def __init__(self, owner: Owner, serial: int, root: Node) -> None:
        self.owner = owner
        self.serial = serial
        self.nodes: tuple[Node, ...] = ()
        self.broad = False
        self.ended = False
        self.warned = False
        self.is_straight = False
        self.value: object = MISSING
        self.listeners: Bag[Listener] = None
        self.stages: list[tuple[object, object] | None] | None = None
        node = root
        for step in owner.recipe.path:
            node = node.below(step)
        self.node = node

    @property
    def recipe(self) -> Recipe:
        """How its value is computed."""
        return self.owner.recipe

    def evaluate(self, state: object) -> Outcome:
        """Compute the value in a snapshot and move the registrations in the index to what it read."""
        selectors = self.recipe.selectors
        value = resolve(self.recipe.path, state)
        if value is MISSING or value is GONE or not selectors:
            outcome = Outcome(value, (self.node,))
            self.is_straight = not selectors
        elif self.broad:
            outcome = evaluate_plainly(selectors[0], value)
        else:
            outcome = evaluate_tracked(selectors[0], value, self.node)
            if self.value is not MISSING:  # a slice that never changes needs no more than its first evaluation
                self.is_straight = self._is_straight(outcome)
        if outcome.broad and self.recipe.path and self.node not in outcome.nodes:
            outcome.nodes = (*outcome.nodes, self.node)
        self.register(outcome.nodes)
        self.broad = outcome.broad
        if outcome.value is GONE:
            self.ended = True
        elif len(selectors) > 1 and outcome.error is None and outcome.value is not MISSING:
            return self._further(outcome)
        return outcome

    def _is_straight(self, outcome: Outcome) -> bool:
        selectors = self.recipe.selectors
        if len(selectors) != 1 or len(outcome.nodes) != 1 or outcome.broad or outcome.error is not None:
            return False
        return is_straight(selectors[0], self.node, outcome.nodes[0])

    def register(self, nodes: tuple[Node, ...]) -> None:
        """Depend on these nodes and on no others."""
        old = self.nodes
        if nodes == old:
            return
        self.nodes = nodes
        for node in nodes:
            node.add(self)
        if old:
            kept = frozenset(nodes)
            for node in old:
                if node not in kept:
                    node.drop(self)

    def _further(self, outcome: Outcome) -> Outcome:
        """Apply the selectors after the first, each only if the value before it has changed."""
        if self.stages is None:
            self.stages = [None for _ in self.recipe.selectors[1:]]
        stages = self.stages
        value = outcome.value
        for place, selector in enumerate(self.recipe.selectors[1:]):
            known = stages[place]
            if known is not None and _equal(self.recipe.earlier[place], known[0], value):
                value = known[1]
                continue
            stages[place] = None
            after = evaluate_plainly(selector, value)
            if after.error is not None:
                return Outcome(None, outcome.nodes, outcome.broad, after.error)
            stages[place] = (value, after.value)
            value = after.value
        return Outcome(value, outcome.nodes, outcome.broad)


def _equal(eq: Comparer, old: object, new: object) -> bool:
    if old is new:
        return True
    try:
        return bool(eq(old, new))
    except Exception:  # a comparer that cannot decide means "changed" here
        return False
