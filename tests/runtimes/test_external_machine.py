"""Random feeds of an external store: nothing is lost, nothing is doubled, and the view is the feed."""

from __future__ import annotations

import threading
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from partwise.messages import message_text
from partwise.runtimes import ExternalStoreRuntime

IDS = [f"m{number}" for number in range(7)]
ids = st.sampled_from(IDS)
roles = st.sampled_from(["user", "assistant"])


class Broken(Exception):
    """Raised by the converter."""


class FeedMachine(RuleBasedStateMachine):
    """An owner that does everything to its list that owners do."""

    def __init__(self) -> None:
        super().__init__()
        self.items: list[dict[str, Any]] = []
        self.is_running: bool | None = False
        self.is_broken = False
        self.count = 0
        self.runtime = ExternalStoreRuntime(
            [],
            convert=self.convert,
            is_same=lambda old, new: new.metadata.custom.get("was") == old.id,
            set_messages=self.take,
            on_error=self.failed,
        )
        self.seen: list[tuple[str, ...]] = []
        self.errors: list[Exception] = []
        self.runtime.thread.select(lambda state: state.messages.keys()).subscribe(self.seen.append)

    def failed(self, error: Exception, context: object) -> None:
        self.errors.append(error)

    def convert(self, item: dict[str, Any]) -> dict[str, Any]:
        if self.is_broken:
            raise Broken
        return {key: value for key, value in item.items() if key != "was"} | {
            "metadata": {"custom": {"was": item.get("was")}}
        }

    def take(self, items: Any) -> None:
        self.items = list(items)
        self.feed()

    def text(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def feed(self) -> None:
        before = self.runtime.thread.state
        try:
            self.runtime.update(list(self.items), is_running=self.is_running)
        except Broken:
            assert self.runtime.thread.state is before
            return
        given = tuple(message.id for message in before.messages if not message.metadata.is_optimistic)
        self.nothing_that_vanished_from_between_is_left(given)

    def nothing_that_vanished_from_between_is_left(self, before: tuple[str, ...]) -> None:
        now = {item["id"] for item in self.items}
        is_followed = False
        for message_id in reversed(before):
            if message_id in now:
                is_followed = True
            elif is_followed or not now:
                assert self.runtime.thread.find(message_id) is None

    @initialize()
    def begin(self) -> None:
        self.feed()

    @rule(message_id=ids, role=roles, place=st.integers(0, 9))
    def insert(self, message_id: str, role: str, place: int) -> None:
        self.items.insert(place, {"id": message_id, "role": role, "content": self.text()})
        self.feed()

    @rule(place=st.integers(0, 9))
    def grow(self, place: int) -> None:
        if self.items:
            index = place % len(self.items)
            self.items[index] = {**self.items[index], "content": self.text()}
            self.feed()

    @rule()
    def change_the_last_in_place(self) -> None:
        if self.items:
            self.items[-1]["content"] = self.text()
            self.feed()

    @rule(length=st.integers(0, 9))
    def shrink(self, length: int) -> None:
        del self.items[length:]
        self.feed()

    @rule(place=st.integers(0, 9))
    def take_out(self, place: int) -> None:
        if self.items:
            del self.items[place % len(self.items)]
            self.feed()

    @rule(seed=st.randoms(use_true_random=False))
    def reorder(self, seed: Any) -> None:
        seed.shuffle(self.items)
        self.feed()

    @rule(place=st.integers(0, 9), message_id=ids)
    def swap_an_id(self, place: int, message_id: str) -> None:
        if self.items and all(item["id"] != message_id for item in self.items):
            index = place % len(self.items)
            self.items[index] = {**self.items[index], "id": message_id, "was": self.items[index]["id"]}
            self.feed()

    @rule(is_running=st.sampled_from([True, False, None]))
    def run(self, is_running: bool | None) -> None:
        self.is_running = is_running
        self.feed()

    @rule()
    def break_the_converter_once(self) -> None:
        self.is_broken = True
        self.items = [dict(item, content=self.text()) for item in self.items]
        self.feed()
        self.is_broken = False
        self.feed()

    @rule()
    def feed_from_another_thread(self) -> None:
        worker = threading.Thread(target=lambda: self.runtime.post(list(self.items), is_running=self.is_running))
        worker.start()
        worker.join()
        self.feed()

    @rule()
    def say_the_same_again(self) -> None:
        self.feed()
        before = self.runtime.thread.state
        self.feed()
        self.runtime.update(is_running=self.is_running)
        assert self.runtime.thread.state is before

    @rule(place=st.integers(0, 9))
    def change_any_in_place(self, place: int) -> None:
        if self.items:
            self.items[place % len(self.items)]["content"] = self.text()
            self.runtime.refresh()
            self.feed()

    @precondition(lambda self: self.has_each_id_once())
    @rule(message_id=ids, role=roles)
    def put_one(self, message_id: str, role: str) -> None:
        known = {item["id"]: index for index, item in enumerate(self.items)}
        item = {"id": message_id, "role": role, "content": self.text()}
        if message_id in known:
            item["role"] = self.items[known[message_id]]["role"]
            self.items[known[message_id]] = item
        else:
            self.items.append(item)
        self.runtime.put(item)

    @precondition(lambda self: self.has_each_id_once() and self.items)
    @rule(place=st.integers(0, 9))
    def remove_one(self, place: int) -> None:
        item = self.items.pop(place % len(self.items))
        self.runtime.remove(item["id"])

    def has_each_id_once(self) -> bool:
        return len({item["id"] for item in self.items}) == len(self.items)

    @rule(message_id=ids)
    def choose_a_branch(self, message_id: str) -> None:
        if self.runtime.thread.find(message_id) is not None:
            self.runtime.thread.switch_to_branch(message_id)

    @invariant()
    def the_view_is_the_feed(self) -> None:
        last = {item["id"]: item for item in self.items}
        kept = [item for item in self.items if last[item["id"]] is item]
        wanted = [(item["id"], item["role"], item["content"]) for item in kept]
        messages = list(self.runtime.thread.state.messages)
        needs_placeholder = self.is_running is True and (not kept or kept[-1]["role"] != "assistant")
        if needs_placeholder:
            assert messages.pop().metadata.is_optimistic
        assert [(item.id, item.role, message_text(item)) for item in messages] == wanted
        assert self.errors == []

    @invariant()
    def the_tree_holds_each_message_once_and_the_head_is_the_end_of_the_view(self) -> None:
        thread = self.runtime.thread
        stored = [entry.message.id for entry in thread.export().entries]
        assert len(stored) == len(set(stored))
        assert {item["id"] for item in self.items} <= set(stored)
        shown = [message.id for message in thread.state.messages]
        assert thread.state.head_id == (shown[-1] if shown else None)
        for message_id, branches in thread.state.branches.items():
            assert message_id in branches
            assert len(branches) == len(set(branches)) > 1

    @invariant()
    def nobody_saw_a_doubled_message(self) -> None:
        assert all(len(keys) == len(set(keys)) for keys in self.seen)


TestFeeds = FeedMachine.TestCase
TestFeeds.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
