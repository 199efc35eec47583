"""What one evaluation of a selector reads, written down as nodes of the index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from partwise.reactive._paths import KEYS, TYPE, Node, Step
from partwise.reactive._sequence import KeyedSeq


class Place(Protocol):
    """Where in the snapshot a stand-in stands."""

    def child(self, step: Step) -> Place:
        """Return the place one frequent step below."""
        ...

    def fact(self, step: Step) -> Place:
        """Return the place one rare step below."""
        ...


class StandInLike(Protocol):
    """What this file needs of a stand-in."""

    pw_node: Place
    pw_raw: object
    pw_read: bool


Wrap = Callable[["Tracking", object, Place], StandInLike]

# How the values of a type are wrapped; None for those that come out as they are.
WRAPPERS: dict[type, Wrap | None] = {}

# Asked in turn about a type met for the first time.
CLASSIFIERS: list[Callable[[type], Wrap | None]] = []

# Types whose values can hold no stand-in.
PLAIN: frozenset[type] = frozenset({str, int, float, bool, bytes, complex, type(None)})


def wrapper(kind: type) -> Wrap | None:
    """Return how values of a type are wrapped, deciding it at the first meeting."""
    found = next((wrap for classify in CLASSIFIERS if (wrap := classify(kind)) is not None), None)
    WRAPPERS[kind] = found
    return found


class Fork:
    """One container that several paths lead to: what is read of it is read on all of them."""

    __slots__ = ("below", "nodes")

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self.nodes = nodes
        self.below: dict[Step, Fork] = {}

    def child(self, step: Step) -> Fork:
        """Return the fork one frequent step below."""
        fork = self.below.get(step)
        if fork is None:
            fork = self.below[step] = Fork(tuple(node.child(step) for node in self.nodes))
        return fork

    def fact(self, step: Step) -> Fork:
        """Return the fork one rare step below."""
        fork = self.below.get(step)
        if fork is None:
            fork = self.below[step] = Fork(tuple(node.fact(step) for node in self.nodes))
        return fork


class Nowhere:
    """Where a stand-in stands once its evaluation is over: nothing it reads is recorded."""

    __slots__ = ()

    def child(self, step: Step) -> Nowhere:
        """Return this very place."""
        del step
        return self

    def fact(self, step: Step) -> Nowhere:
        """Return this very place."""
        del step
        return self


NOWHERE = Nowhere()


class Tracking:
    """What one evaluation of a selector has read so far.

    Attributes:
        reads: The places whose values the result depends on.
        seen: The stand-in of each container met, by the container's identity, so that a container
            reached twice is one object in the selector, as it is in the snapshot.
        standing: What stands at each place, known once a container was met again.
        opaque: Objects of types unknown here that came out of the snapshot as they are.
        forked: Whether some container was reached in several ways.
        broad: Whether something was read that paths cannot express.
    """

    __slots__ = ("broad", "forked", "opaque", "reads", "seen", "standing")

    def __init__(self) -> None:
        self.reads: dict[Place, None] = {}
        self.seen: dict[int, StandInLike] = {}
        self.opaque: dict[int, object] | None = None
        self.standing: dict[Place, object] | None = None
        self.broad = False
        self.forked = False

    def take(self, value: object, place: Place) -> object:
        """Hand out a value read at ``place``: a stand-in for a container, else the value itself."""
        kind = type(value)
        try:
            wrap = WRAPPERS[kind]
        except KeyError:
            wrap = wrapper(kind)
        if wrap is None:
            self.reads[place] = None
            if kind not in PLAIN:
                if self.opaque is None:
                    self.opaque = {}
                self.opaque[id(value)] = value
            return value
        known = self.seen.get(id(value))
        if known is None:
            known = self.seen[id(value)] = wrap(self, value, place)
        elif known.pw_node is not place:
            self._meet_again(known, place)
        return known

    def finish(self) -> tuple[Node, ...]:
        """End the evaluation and return the nodes that its result depends on."""
        reads = self.reads
        for stand_in in self.seen.values():
            if not stand_in.pw_read:
                # Only its presence was seen; `is` can compare no more than the identity.
                reads[stand_in.pw_node] = None
            stand_in.pw_node = NOWHERE
        self.seen = {}
        # What a stand-in that was kept reads from now on goes nowhere.
        self.reads = {}
        if not self.forked:
            return cast("tuple[Node, ...]", tuple(reads))
        flat: dict[Node, None] = {}
        for place in reads:
            flat.update(dict.fromkeys(_nodes(place)))
        return tuple(flat)

    def _meet_again(self, known: StandInLike, place: Place) -> None:
        old, new = _nodes(known.pw_node), _nodes(place)
        if set(new) <= set(old):
            return
        # Its presence on the new way is read, even if nothing below it is.
        for node in new:
            self.reads[node.fact(TYPE)] = None
        if set(old) <= set(new):
            known.pw_node = place
            return
        self.forked = True
        merged = tuple(dict.fromkeys(old + new))
        known.pw_node = Fork(merged)
        parents = {node.parent for node in merged}
        parent = parents.pop()
        if not parents and parent is not None and self._is_keyed(parent):
            # Two ways into one sequence lead to the same item until the order changes.
            self.reads[parent.fact(KEYS)] = None
        else:
            self.reads[known.pw_node] = None

    def _is_keyed(self, place: Place) -> bool:
        """Tell whether a keyed sequence stands at a place that was met."""
        if self.standing is None or place not in self.standing:
            self.standing = {stand_in.pw_node: stand_in.pw_raw for stand_in in self.seen.values()}
        return type(self.standing.get(place)) is KeyedSeq


def _nodes(place: Place) -> tuple[Node, ...]:
    if isinstance(place, Node):
        return (place,)
    if isinstance(place, Fork):
        return place.nodes
    return ()
