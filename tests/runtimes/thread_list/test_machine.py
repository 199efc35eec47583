"""Any interleaving of what users do and what an adapter answers, late, failing or out of order, ends in one truth."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import attrs
from anyio.from_thread import start_blocking_portal
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from partwise.errors import AdapterChangedError
from partwise.messages import message_text
from partwise.runtimes import Operation, Thread, ThreadListRuntime
from partwise.runtimes.thread_list._ledger import view
from tests.runtimes.thread_list.scenes import Call, Server, local, settled, stored
from tests.runtimes.thread_list.test_ledger import check_whole

numbers = st.integers(0, 1_000)
titles = st.sampled_from(["x", "y", "z"])


@attrs.define
class Sent:
    thread: Thread
    text: str
    operation: Operation


class ThreadListMachine(RuleBasedStateMachine):
    """Eight threads on a server with pages of three; every call waits until a rule answers it."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.portal = self.stack.enter_context(start_blocking_portal("trio"))
        threads = [stored(f"t{number}", status="archived" if number % 4 == 3 else "regular") for number in range(8)]
        self.server = Server(*threads, page_size=3)
        self.operations: list[Operation] = []
        self.sent: list[Sent] = []
        self.may_lie = self.lied = False
        self.servers = 1
        self.told: list[str | None] = []
        self.errors: list[Exception] = []

        async def make() -> ThreadListRuntime:
            # The store belongs to the thread that makes it.
            return ThreadListRuntime(
                local(),
                self.server,
                on_selected=self.told.append,
                on_error=lambda error, context: self.errors.append(error),
            )

        self.list = self.stack.enter_context(self.portal.wrap_async_context_manager(self.portal.call(make)))

    def do(self, action: Callable[[], Any]) -> None:
        """Do something on the loop, and let everything come to rest."""

        async def act() -> None:
            try:
                made = action()
            except AdapterChangedError:
                # What is listed is not the adapter's that is asked now; a load is on its way, or failed.
                assert self.list._board.former is not None
                made = None
            if isinstance(made, Operation):
                self.operations.append(made)
            await settled()

        self.portal.call(act)

    def row_ids(self, *statuses: str) -> list[str]:
        return [row.id for row in self.list.state.rows if row.status in statuses]

    def pick(self, number: int, *statuses: str) -> str | None:
        ids = self.row_ids(*statuses)
        return ids[number % len(ids)] if ids else None

    @initialize(may_lie=st.booleans())
    def begin(self, may_lie: bool) -> None:
        self.may_lie = may_lie
        self.do(self.list.load)
        self.do(self.server.open_calls[0].succeed)

    # What users do

    @rule(number=numbers, title=titles)
    def rename(self, number: int, title: str) -> None:
        id = self.pick(number, "regular", "archived")
        if id is not None:
            self.do(lambda: self.list.rename(id, title))

    @rule(number=numbers)
    def archive(self, number: int) -> None:
        id = self.pick(number, "regular")
        if id is not None:
            self.do(lambda: self.list.archive(id))

    @rule(number=numbers)
    def unarchive(self, number: int) -> None:
        id = self.pick(number, "archived")
        if id is not None:
            self.do(lambda: self.list.unarchive(id))

    @rule(number=numbers)
    def delete(self, number: int) -> None:
        id = self.pick(number, "new", "regular", "archived")
        assert id is not None
        self.do(lambda: self.list.delete(id))

    @rule(number=numbers, value=st.integers(0, 3))
    def customize(self, number: int, value: int) -> None:
        id = self.pick(number, "regular", "archived")
        if id is not None:
            self.do(lambda: self.list.update_custom(id, {"v": value}))

    @rule(number=numbers)
    def switch_to_listed(self, number: int) -> None:
        id = self.pick(number, "new", "regular", "archived")
        assert id is not None
        self.do(lambda: self.list.switch_to(id))

    @rule(number=numbers)
    def switch_to_any(self, number: int) -> None:
        self.do(lambda: self.list.switch_to(f"t{number % 9}"))

    @rule()
    def switch_to_new(self) -> None:
        self.do(self.list.switch_to_new)

    @rule(number=numbers)
    def close(self, number: int) -> None:
        id = self.pick(number, "new", "regular", "archived")
        assert id is not None
        self.do(lambda: self.list.close(id))

    @rule(number=numbers)
    def open(self, number: int) -> None:
        id = self.pick(number, "regular", "archived")
        if id is not None:
            self.do(lambda: self.list.open(id))

    @rule(number=numbers)
    def send(self, number: int) -> None:
        ids = self.live_ids()
        thread = self.list.thread(ids[number % len(ids)])
        text = f"message {len(self.sent)}"

        def act() -> Operation:
            operation = thread.append(text)
            self.sent.append(Sent(thread, text, operation))
            return operation

        self.do(act)

    @rule()
    def reload(self) -> None:
        self.do(self.list.reload)

    @rule()
    def load_more(self) -> None:
        self.do(self.list.load_more)

    @rule(number=numbers)
    def restart(self, number: int) -> None:
        ids = self.live_ids()
        self.do(lambda: self.list.restart(ids[number % len(ids)]))

    @rule()
    def reload_main(self) -> None:
        self.do(self.list.reload_main)

    @rule(first=st.integers(0, 8))
    def exchange(self, first: int) -> None:
        """Go on with another server, which has some of the same threads, and is as slow."""
        self.servers += 1
        threads = [stored(f"t{number}", f"other {number}") for number in range(first, first + 5)]
        self.server = Server(*threads, page_size=3, prefix=f"s{self.servers}-" if self.servers % 2 else "r")
        self.lied = False
        self.do(lambda: self.list.exchange(self.server))

    # What the server does

    def has_calls(self) -> bool:
        return bool(self.server.open_calls)

    def a_call(self, number: int) -> Call:
        return self.server.open_calls[number % len(self.server.open_calls)]

    @precondition(has_calls)
    @rule(number=numbers)
    def answer(self, number: int) -> None:
        self.do(self.a_call(number).succeed)

    @rule()
    def answer_all_but_pages(self) -> None:
        while calls := [call for call in self.server.open_calls if call.name != "list"]:
            self.do(calls[0].succeed)

    @precondition(has_calls)
    @rule(number=numbers)
    def fail(self, number: int) -> None:
        self.do(self.a_call(number).fail)

    @precondition(lambda self: self.has_calls() and self.may_lie)
    @rule(number=numbers)
    def do_and_fail(self, number: int) -> None:
        call = self.a_call(number)
        call.act()
        self.lied = True
        self.do(call.fail)

    # What holds

    def live_ids(self) -> list[str]:
        return [row.id for row in self.list.state.rows if row.is_live]

    @invariant()
    def the_list_is_whole(self) -> None:
        state, board = self.list.state, self.list._board
        check_whole(board.listing)
        assert board.listing == view(board.ledger)
        assert state.rows.keys() == board.listing.ids
        assert (state.new_ids, state.regular_ids, state.archived_ids) == (
            board.listing.new_ids,
            board.listing.regular_ids,
            board.listing.archived_ids,
        )
        assert not self.errors

    @invariant()
    def an_open_thread_is_in_view(self) -> None:
        state = self.list.state
        assert state.main_id in state.rows
        assert state.rows.by_key(state.main_id).is_live
        assert self.list.main is self.list.thread(state.main_id)

    @invariant()
    def no_message_is_lost_or_doubled(self) -> None:
        is_open = {id(self.list.thread(live)) for live in self.live_ids()}
        for sent in self.sent:
            if id(sent.thread) not in is_open:
                continue
            # Of two that waited for their thread to be made, either may be on the branch that is shown.
            texts = [message_text(entry.message) for entry in sent.thread.export().entries]
            expected = 0 if sent.operation.error is not None else 1
            assert texts.count(sent.text) == expected, (sent.text, texts)

    @invariant()
    def the_owner_of_the_selection_knows_what_is_in_view(self) -> None:
        main = self.list.state.rows.by_key(self.list.state.main_id)
        assert ([None, *self.told])[-1] == main.remote_id
        assert all(one != next for one, next in pairwise([None, *self.told]))

    def teardown(self) -> None:
        try:
            self.come_to_rest()
        finally:
            self.stack.close()

    def come_to_rest(self) -> None:
        self.answer_everything()
        self.everything_is_settled()
        if not self.lied and self.list._board.former is None:
            # Nobody else changed anything, so what is listed is what the server has, without asking again.
            assert self.rows().items() <= self.truth().items()
        self.do(self.list.reload)
        self.answer_everything()
        while self.list.state.has_more:
            self.do(self.list.load_more)
            self.answer_everything()
        self.everything_is_settled()
        assert self.list._board.former is None
        assert self.rows() == self.truth()

    def everything_is_settled(self) -> None:
        board = self.list._board
        assert board.ledger.entries == ()
        assert board.ledger.fetches == ()
        assert board.listing == board.ledger.base
        assert all(operation.is_done for operation in self.operations)
        assert self.list._selection.wanted_id == self.list.state.main_id
        self.the_list_is_whole()
        self.an_open_thread_is_in_view()
        self.no_message_is_lost_or_doubled()

    def rows(self) -> dict[str, Any]:
        """What is listed of threads that are kept, except for open ones that were deleted behind an error."""
        return {
            row.remote_id: (row.status, row.title, row.custom)
            for row in self.list.state.rows
            if row.remote_id is not None
            and not (self.lied and row.is_live and row.remote_id not in self.server.threads)
        }

    def truth(self) -> dict[str, Any]:
        return {id: (thread.status, thread.title, thread.custom) for id, thread in self.server.threads.items()}

    def answer_everything(self) -> None:
        while self.server.open_calls:
            self.do(self.server.open_calls[0].succeed)


TestThreadList = ThreadListMachine.TestCase
TestThreadList.settings = settings(max_examples=25, stateful_step_count=40, deadline=None)
