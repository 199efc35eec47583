"""The machine inside a store: one snapshot, one queue of rounds, and everybody who listens."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from operator import attrgetter
from threading import RLock, get_ident
from typing import Any, Protocol, cast

from partwise.errors import StoreClosedError, WrongThreadError
from partwise.reactive._address import GONE
from partwise.reactive._bag import members, put, take
from partwise.reactive._cell import Cell, Listener, Recipe
from partwise.reactive._debug import check_cell
from partwise.reactive._door import Door
from partwise.reactive._evaluate import ACTIVE, Outcome
from partwise.reactive._paths import MISSING, Node
from partwise.reactive._report import Culprit, ErrorContext, ErrorHook
from partwise.reactive._subscription import Subscription
from partwise.reactive._walk import changed_readers

Round = tuple[object, object, int]


class Source(Protocol):
    """A slice, as the engine sees it."""

    cell: Cell | None
    recipe: Recipe
    memo: tuple[int, object] | None


class Engine:
    """Keeps the snapshot and delivers what changed.

    A commit makes a round: first every slice that may have changed is evaluated in the new
    snapshot, then the values that differ are delivered. A commit made meanwhile queues its round.
    """

    def __init__(self, initial: object, *, name: str, on_error: ErrorHook, debug: bool) -> None:
        self.value = initial
        self.name = name
        self.debug = debug
        self.closed = False
        self.root = Node()
        self.lock = RLock()
        self.door = Door(self._call_posted)
        self.cells: dict[Cell, None] = {}
        self.commits = self.evaluations = self.deliveries = 0
        self._on_error = on_error
        self._owner = get_ident()
        # How often the snapshot was replaced, and up to which replacement the slices are evaluated.
        self._version = self._settled = 0
        self._rounds: deque[Round] = deque()
        self._delivering = False
        self._batches = 0
        self._batch_base: object = None
        self._batch_version = 0
        self._broad: dict[Cell, object] = {}
        self._late: dict[Subscription, None] = {}
        self._memos: list[Source] = []
        self._freed: list[Cell] = []
        self._hook_errors: list[Exception] = []
        self._serial = 0
        self.door.adopt_loop()

    # Writing

    def check_writer(self) -> None:
        """Raise unless the caller may write."""
        if get_ident() != self._owner:
            text = f"store {self.name!r} belongs to another thread; hand it the change with store.post(...)"
            raise WrongThreadError(text)
        if self.closed:
            text = f"store {self.name!r} is closed; its last snapshot can only be read"
            raise StoreClosedError(text)

    def commit(self, new: object) -> None:
        """Replace the snapshot and deliver what changed, or queue that."""
        if self.closed or get_ident() != self._owner:
            self.check_writer()
        old = self.value
        if new is not old:
            self.value = new
            self._version += 1
            self.commits += 1
            if self._memos:
                self._forget_memos()
            if not self._batches:
                self._rounds.append((old, new, self._version))
                if not self._delivering:
                    self.run_rounds()
        if self.door and not self._batches and not self._delivering:
            self.door.drain()

    def begin_batch(self) -> None:
        """Hold back rounds until the matching end."""
        self.check_writer()
        if not self._batches:
            self._batch_base = self.value
            self._batch_version = self._version
        self._batches += 1

    def end_batch(self) -> None:
        """Make one round of everything committed since the matching begin."""
        self._batches -= 1
        if self._batches:
            return
        base, self._batch_base = self._batch_base, None
        if self.closed:
            return
        if self._version != self._batch_version:
            # Also when the batch took everything back: who subscribed inside saw what it took back.
            self._rounds.append((base, self.value, self._version))
        if not self._delivering:
            self.run_rounds()
            if self.door:
                self.door.drain()

    def close(self) -> None:
        """Complete every slice, after the rounds that are waiting."""
        if self.closed:
            return
        self.check_writer()
        self.closed = True
        self.door.clear()
        if not self._delivering:
            self.run_rounds()

    def run_rounds(self) -> None:
        """Run the queued rounds to the end."""
        self._delivering = True
        rounds = self._rounds
        try:
            while rounds:
                self._run(*rounds.popleft())
            if self.closed:
                self._complete_all()
        finally:
            self._delivering = False
        if self._hook_errors:
            self._raise_hook_errors()

    def _run(self, old: object, new: object, version: int) -> None:
        changed = [cell for cell, found in self._affected(old, new).items() if self._refresh(cell, new, found)]
        self._settled = version
        joining = self._join(new, version) if self._late else ()
        if len(changed) > 1:
            changed.sort(key=attrgetter("serial"))
        for cell in changed:
            if cell.ended:
                self._complete(cell)
                continue
            value = cell.value
            for subscription in members(cell.listeners):
                if subscription.active and subscription.since < version:
                    self._deliver(subscription, value)
        for subscription in joining:
            self._deliver(subscription, subscription.cell.value if subscription.cell else MISSING)

    def _affected(self, old: object, new: object) -> dict[Cell, object]:
        """Return the cells that may have changed, each with the value at the last place where it was found."""
        if self.debug:
            return dict.fromkeys(self.cells, MISSING)
        try:
            found: dict[Any, object] = changed_readers(self.root, old, new) if old is not new else {}
        except Exception as error:  # comparing two snapshots runs code of their classes
            self.report(error, "comparer")
            return dict.fromkeys(self.cells, MISSING)
        if self._broad:
            found.update(self._broad)
        return found

    # Evaluating

    def _refresh(self, cell: Cell, state: object, value: object) -> bool:
        """Evaluate a cell in a snapshot; tell whether its listeners have something to hear.

        Args:
            cell: The cell.
            state: The snapshot.
            value: What is at the place where the cell was found, or ``MISSING``.
        """
        if cell.is_straight and value is not MISSING:
            self.evaluations += 1
        else:
            outcome = self._evaluate(cell, state)
            if outcome.error is not None:
                self.report(outcome.error, "selector", cell.owner)
                return False
            value = outcome.value
            if value is GONE:
                return True
        before = cell.value
        if value is before or value is MISSING or (before is not MISSING and self.same(cell, before, value)):
            return False
        cell.value = value
        return True

    def _evaluate(self, cell: Cell, state: object) -> Outcome:
        self.evaluations += 1
        outcome = cell.evaluate(state)
        if self.debug:
            outcome = check_cell(cell, outcome, state)
        if cell.broad:
            self._broad[cell] = MISSING
        elif self._broad:
            self._broad.pop(cell, None)
        if self._freed:
            self._discard_freed()
        return outcome

    def same(self, cell: Cell, old: object, new: object) -> bool:
        """Compare two values of a slice; a comparer that raises is reported and means "changed"."""
        if old is new:
            return True
        try:
            return bool(cell.recipe.eq(old, new))
        except Exception as error:  # user code
            self.report(error, "comparer", cell.owner)
            return False

    def peek(self, source: Source) -> Outcome:
        """Compute the value of a slice in the newest snapshot, at most once per snapshot."""
        cell = source.cell
        if cell is not None and self._settled == self._version and cell.value is not MISSING and not cell.ended:
            return Outcome(cell.value, ())
        memo = source.memo
        if memo is not None and memo[0] == self._version:
            return Outcome(memo[1], ())
        self.evaluations += 1
        version = self._version
        outcome = source.recipe.read(self.value)
        if outcome.error is None and version == self._version and get_ident() == self._owner:
            source.memo = (version, outcome.value)
            self._memos.append(source)
        return outcome

    def _forget_memos(self) -> None:
        # A value remembered for a snapshot that is gone would keep its messages alive.
        for source in self._memos:
            source.memo = None
        self._memos.clear()

    # Listening

    def listen(self, source: Source, subscription: Subscription) -> None:
        """Give a new subscriber the present value and register it."""
        if get_ident() != self._owner:
            text = f"store {self.name!r} belongs to another thread; subscribe there, or with store.post(...)"
            raise WrongThreadError(text)
        self.door.adopt_loop()
        if self.closed:
            subscription.complete()
            return
        subscription.since = self._version
        if self._settled != self._version:
            outcome = self.peek(source)
            if outcome.error is None and outcome.value is not GONE:
                subscription.last = outcome.value
                self._late[subscription] = None
        else:
            outcome = self._enter(source, subscription)
        if outcome.error is not None:
            subscription.fail(outcome.error)
        elif outcome.value is GONE:
            subscription.complete()
        elif outcome.value is not MISSING:
            self._greet(subscription, outcome.value)

    def _enter(self, source: Source, subscription: Subscription) -> Outcome:
        cell = source.cell
        if cell is None:
            cell, outcome = self._start(source, self.value)
            if outcome.error is not None or outcome.value is GONE:
                self._discard(cell)
                return outcome
            cell.value = outcome.value
        cell.listeners = put(cell.listeners, subscription)
        subscription.cell = cell
        return Outcome(cell.value, ())

    def _start(self, source: Source, state: object) -> tuple[Cell, Outcome]:
        self._serial += 1
        cell = Cell(source, self._serial, self.root)
        source.cell = cell
        self.cells[cell] = None
        return cell, self._evaluate(cell, state)

    def _join(self, state: object, version: int) -> list[Subscription]:
        """Let those who subscribed ahead of the rounds join; return those with something to hear."""
        ready = [subscription for subscription in self._late if subscription.since <= version]
        self._late = {subscription: None for subscription in self._late if subscription.since > version}
        hearing: list[Subscription] = []
        for subscription in ready:
            if not subscription.active:
                continue
            source = cast("Source", subscription.source)
            seen, subscription.last = subscription.last, MISSING
            cell = source.cell
            if cell is None:
                cell, outcome = self._start(source, state)
                if outcome.error is not None:
                    self.report(outcome.error, "selector", source)
                cell.value = outcome.value if outcome.error is None else seen
            cell.listeners = put(cell.listeners, subscription)
            subscription.cell = cell
            if cell.ended:
                self._complete(cell)
            elif cell.value is not MISSING and (seen is MISSING or not self.same(cell, seen, cell.value)):
                subscription.since = version
                hearing.append(subscription)
            elif cell.listeners is subscription and seen is not MISSING:
                cell.value = seen
        return hearing

    def _greet(self, subscription: Subscription, value: object) -> None:
        if self._delivering:
            self._deliver(subscription, value)
            return
        # The first value counts as a delivery: what its listener commits waits until it is done.
        self._delivering = True
        try:
            self._deliver(subscription, value)
        finally:
            self._delivering = False
        if self._rounds or self._hook_errors or self.closed:
            self.run_rounds()

    def _deliver(self, subscription: Listener, value: object) -> None:
        if value is MISSING or not subscription.active:
            return
        self.deliveries += 1
        try:
            subscription.on_next(value)
        except Exception as error:  # a listener's failure is nobody else's
            self.report(error, "listener", subscription.source)

    def release(self, subscription: Subscription) -> None:
        """Forget a disposed subscriber; from another thread it is forgotten at the next occasion."""
        if get_ident() != self._owner:
            self.door.put(lambda: self.release(subscription))
            return
        cell = subscription.cell
        subscription.cell = None
        if cell is None:
            self._late.pop(subscription, None)
            return
        cell.listeners = take(cell.listeners, subscription)
        if cell.listeners is None:
            if ACTIVE.tracking is not None:
                self._freed.append(cell)
            else:
                self._discard(cell)

    def _discard_freed(self) -> None:
        freed, self._freed = self._freed, []
        for cell in freed:
            if cell.listeners is None:
                self._discard(cell)

    def _discard(self, cell: Cell) -> None:
        if cell.owner.cell is cell:
            cell.owner.cell = None
        cell.register(())
        self.cells.pop(cell, None)
        self._broad.pop(cell, None)

    def _complete(self, cell: Cell) -> None:
        listeners = members(cell.listeners)
        cell.listeners = None
        self._discard(cell)
        for subscription in listeners:
            subscription.cell = None
            try:
                subscription.complete()
            except Exception as error:  # a listener's failure is nobody else's
                self.report(error, "listener", subscription.source)

    def _complete_all(self) -> None:
        for cell in tuple(self.cells):
            self._complete(cell)
        late, self._late = self._late, {}
        for subscription in late:
            try:
                subscription.complete()
            except Exception as error:  # a listener's failure is nobody else's
                self.report(error, "listener", subscription.source)

    # Errors and posted calls

    def report(self, error: Exception, culprit: Culprit, source: object = None) -> None:
        """Hand an error to the hook; what the hook raises surfaces when everybody was served."""
        try:
            self._on_error(error, ErrorContext(culprit=culprit, store=self.name, source=source))
        except Exception as raised:  # kept until the round is over
            self._hook_errors.append(raised)

    def _raise_hook_errors(self) -> None:
        errors, self._hook_errors = self._hook_errors, []
        if len(errors) == 1:
            raise errors[0]
        text = f"the error hook of store {self.name!r} raised {len(errors)} times"
        raise ExceptionGroup(text, errors)

    def _call_posted(self, function: Callable[[], object]) -> None:
        try:
            function()
        except Exception as error:  # whoever posted it is not there to be told
            self.report(error, "posted")
