"""One evaluation of a selector: tracked if that can be, plain otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable

# Imported so that tuples, mappings and keyed sequences have their stand-ins.
from partwise.reactive import _containers as _containers
from partwise.reactive._paths import Node
from partwise.reactive._plain import plain
from partwise.reactive._tracking import Tracking

Selector = Callable[[object], object]


class Active(threading.local):
    """The evaluation that is running in this thread, if any."""

    tracking: Tracking | None = None


ACTIVE = Active()


def note_untracked_read() -> None:
    """Tell a running evaluation that it read something its own paths cannot express."""
    tracking = ACTIVE.tracking
    if tracking is not None:
        tracking.broad = True


class Outcome:
    """What an evaluation gave. Made at every evaluation, so it is no attrs class.

    Attributes:
        value: The plain result; meaningless when there is an error.
        nodes: What the result (or the error) depends on.
        broad: Whether it may depend on more than that.
        error: What the selector raised.
    """

    __slots__ = ("broad", "error", "nodes", "value")

    def __init__(
        self, value: object, nodes: tuple[Node, ...], broad: bool = False, error: Exception | None = None
    ) -> None:
        self.value = value
        self.nodes = nodes
        self.broad = broad
        self.error = error


def evaluate_tracked(selector: Selector, value: object, node: Node) -> Outcome:
    """Run a selector on the value at a node and record what it reads.

    A selector that cannot be followed is run once more on the value itself; what it then gives or
    raises is the outcome.
    """
    tracking = Tracking()
    outer = ACTIVE.tracking
    ACTIVE.tracking = tracking
    failure: Exception | None = None
    result: object = None
    try:
        result = plain(selector(tracking.take(value, node)), tracking)
    except Exception as error:  # any failure of user code is handled below
        failure = error
    finally:
        ACTIVE.tracking = outer
    nodes = tracking.finish()
    if failure is None and not tracking.broad:
        return Outcome(result, nodes)
    outcome = evaluate_plainly(selector, value)
    if outcome.error is not None and type(outcome.error) is type(failure):
        return Outcome(None, nodes, tracking.broad, outcome.error)
    # The places it made in the index are registered once, so that they are cleared away later.
    return Outcome(outcome.value, nodes, broad=True, error=outcome.error)


def evaluate_plainly(selector: Selector, value: object) -> Outcome:
    """Run a selector on a value without recording anything."""
    outer = ACTIVE.tracking
    ACTIVE.tracking = None
    try:
        return Outcome(selector(value), (), broad=True)
    except Exception as error:  # handed on as the outcome
        return Outcome(None, (), broad=True, error=error)
    finally:
        ACTIVE.tracking = outer
