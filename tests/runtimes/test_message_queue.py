"""The queue itself: two lanes, a driver, and the rule of what goes next."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import InvalidInputError, QueueItemNotFoundError
from partwise.messages import CompleteAttachment, FilePart, ImagePart, ReasoningPart, TextPart, UserMessage
from partwise.runtimes import AppendRequest, MessageQueue
from partwise.runtimes._queue import queue_item
from tests.runtimes.scenes import LONG_AGO, question


def request(text: str) -> AppendRequest:
    return AppendRequest(message=question(f"id of {text}", text))


class Driver:
    """Writes down what it is told to send; fails as often as it is told to."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.failures = 0
        self.log: list[str] = []
        self.queue = MessageQueue(self, on_change=self._changed, on_failure=lambda error: self.log.append("failure"))

    def _changed(self) -> None:
        self.log.append(f"{self.texts('steer')}{self.texts('queue')}")

    def texts(self, lane: str) -> str:
        items = self.queue.items if lane == "queue" else self.queue.steer_items
        return "".join(item.prompt for item in items) + "|"

    def run(self, request: AppendRequest, /, *, steer: bool) -> None:
        if self.failures:
            self.failures -= 1
            raise OSError("offline")
        text = request.message.content[0].text
        self.log.append(f"run {text}{' steered' if steer else ''}")
        self.sent.append(text)


class CancellingDriver(Driver):
    """Can stop the present run, and tells the queue of it, as runtimes do."""

    def cancel(self) -> None:
        self.log.append("cancel")
        self.queue.notify_cancelled()


def ids(driver: Driver) -> dict[str, str]:
    return {item.prompt: item.id for item in (*driver.queue.items, *driver.queue.steer_items)}


def test_a_message_for_an_idle_thread_goes_without_ever_being_shown_as_waiting() -> None:
    driver = Driver()
    driver.queue.enqueue(request("a"))
    assert driver.log == ["run a"]


def test_lanes_are_shown_without_a_message_before_it_is_sent() -> None:  # T-F8
    driver = Driver()
    driver.queue.enqueue(request("a"))
    driver.queue.enqueue(request("b"))
    driver.queue.notify_idle()
    assert driver.log == ["run a", "|b|", "||", "run b"]


def test_the_steer_lane_goes_first() -> None:
    driver = Driver()
    for text in "abc":
        driver.queue.enqueue(request(text))
    driver.queue.steer(request("now"))
    for _ in range(4):
        driver.queue.notify_idle()
    assert driver.sent == ["a", "now", "b", "c"]


def test_a_driver_that_can_cancel_sends_a_steered_message_in_place_of_the_run() -> None:  # T-F7
    driver = CancellingDriver()
    driver.queue.enqueue(request("a"))
    driver.queue.enqueue(request("b"))
    driver.queue.steer(request("now"))
    assert driver.log[-2:] == ["cancel", "run now steered"]
    driver.queue.notify_idle()
    assert driver.sent == ["a", "now"]
    driver.queue.notify_idle()
    assert driver.sent == ["a", "now", "b"]


def test_a_message_whose_sending_fails_stays_and_goes_exactly_once_later() -> None:  # B16
    driver = Driver()
    driver.queue.enqueue(request("m1"))
    driver.queue.enqueue(request("m2"))
    driver.failures = 1
    driver.queue.notify_idle()
    assert driver.log.count("failure") == 1
    assert driver.texts("queue") == "m2|"
    driver.queue.notify_idle()
    assert driver.sent == ["m1"]
    driver.queue.enqueue(request("m3"))
    assert driver.sent == ["m1", "m2"]
    driver.queue.notify_idle()
    assert driver.sent == ["m1", "m2", "m3"]


def test_a_message_that_is_sent_at_once_and_fails_waits_instead() -> None:
    driver = Driver()
    driver.failures = 1
    driver.queue.enqueue(request("a"))
    assert driver.texts("queue") == "a|"
    driver.queue.enqueue(request("b"))
    assert driver.sent == ["a"]


def test_a_cancel_lets_nothing_loose_until_the_next_send() -> None:  # T-F3, T-F4
    driver = Driver()
    for text in "abc":
        driver.queue.enqueue(request(text))
    driver.queue.notify_cancelled()
    driver.queue.notify_cancelled()
    driver.queue.notify_idle()
    assert driver.sent == ["a"]
    driver.queue.enqueue(request("d"))
    assert driver.sent == ["a", "b"]


def test_the_end_of_a_cancelled_run_says_nothing_about_the_one_that_replaced_it() -> None:  # T-F6
    driver = Driver()
    driver.queue.enqueue(request("a"))
    driver.queue.enqueue(request("b"))
    driver.queue.notify_cancelled()
    driver.queue.notify_busy()
    driver.queue.notify_idle()
    assert driver.sent == ["a"]
    driver.queue.notify_idle()
    assert driver.sent == ["a", "b"]


def test_steering_during_a_cancelled_run_swallows_one_end() -> None:  # T-F5
    driver = CancellingDriver()
    driver.queue.enqueue(request("a"))
    driver.queue.notify_cancelled()
    driver.queue.steer(request("now"))
    driver.queue.enqueue(request("b"))
    driver.queue.notify_idle()
    assert driver.sent == ["a", "now"]
    driver.queue.notify_idle()
    assert driver.sent == ["a", "now", "b"]


def test_a_cancel_that_fails_keeps_the_steered_message() -> None:
    class Broken(CancellingDriver):
        def cancel(self) -> None:
            raise OSError("stuck")

    driver = Broken()
    driver.queue.enqueue(request("a"))
    driver.queue.steer(request("now"))
    assert (driver.sent, driver.texts("steer")) == (["a"], "now|")
    driver.queue.notify_idle()
    assert driver.sent == ["a", "now"]


def test_a_steered_message_whose_sending_fails_is_kept() -> None:
    driver = CancellingDriver()
    driver.queue.enqueue(request("a"))
    driver.failures = 1
    driver.queue.steer(request("now"))
    assert driver.texts("steer") == "now|"
    assert driver.log.count("failure") == 1
    driver.queue.notify_idle()
    driver.queue.enqueue(request("b"))
    assert driver.sent == ["a", "now"]


def test_anchors_place_a_message() -> None:
    driver = Driver()
    for text in "xabcd":
        driver.queue.enqueue(request(text))
    at = ids(driver)
    driver.queue.move(at["c"], insert_after=None)
    assert driver.texts("queue") == "cabd|"
    driver.queue.move(at["c"], insert_before=None)
    assert driver.texts("queue") == "abdc|"
    driver.queue.move(at["a"], insert_after=at["b"], insert_before=at["d"])
    assert driver.texts("queue") == "badc|"
    driver.queue.move(at["a"])
    assert driver.texts("queue") == "badc|"
    driver.queue.move(at["a"], lane="steer")
    assert (driver.texts("steer"), driver.texts("queue")) == ("a|", "bdc|")


def test_a_bad_place_is_refused_and_changes_nothing() -> None:
    driver = Driver()
    for text in "xabcd":
        driver.queue.enqueue(request(text))
    at = ids(driver)
    for error, move in (
        (QueueItemNotFoundError, lambda: driver.queue.move("nowhere")),
        (QueueItemNotFoundError, lambda: driver.queue.move(at["a"], insert_after="nowhere")),
        (QueueItemNotFoundError, lambda: driver.queue.move(at["a"], lane="steer", insert_after=at["b"])),
        (InvalidInputError, lambda: driver.queue.move(at["a"], insert_after=at["a"])),
        (InvalidInputError, lambda: driver.queue.move(at["a"], insert_after=at["b"], insert_before=at["d"])),
        (QueueItemNotFoundError, lambda: driver.queue.edit("nowhere", request("z"))),
    ):
        with pytest.raises(error):
            move()
        assert driver.texts("queue") == "abcd|"
    driver.queue.remove("nowhere")
    assert driver.texts("queue") == "abcd|"


def test_an_edited_message_keeps_its_place_and_id() -> None:
    driver = Driver()
    for text in "xab":
        driver.queue.enqueue(request(text))
    at = ids(driver)
    driver.queue.edit(at["a"], request("A"))
    assert driver.texts("queue") == "Ab|"
    assert driver.queue.items[0].id == at["a"]
    driver.queue.notify_idle()
    assert driver.sent == ["x", "A"]


def test_moving_in_an_idle_queue_that_has_been_paused_sends_nothing() -> None:
    driver = Driver()
    for text in "xab":
        driver.queue.enqueue(request(text))
    driver.queue.notify_cancelled()
    driver.queue.notify_idle()
    driver.queue.move(ids(driver)["b"], insert_after=None)
    assert driver.sent == ["x"]


def test_moving_into_the_steer_lane_of_a_cancelling_driver_goes_at_once_unless_it_is_placed() -> None:
    driver = CancellingDriver()
    for text in "xab":
        driver.queue.enqueue(request(text))
    driver.queue.move(ids(driver)["b"], lane="steer", insert_after=None)
    assert driver.sent == ["x"]
    driver.queue.move(ids(driver)["a"], lane="steer")
    assert driver.sent == ["x", "a"]


def test_a_listener_that_removes_items_does_not_disturb_the_lanes() -> None:  # T-F10
    driver = Driver()

    def empty() -> None:
        for item in driver.queue.items:
            driver.queue.remove(item.id)

    driver.queue = MessageQueue(driver, on_change=empty, on_failure=lambda error: None)
    for text in "abc":
        driver.queue.enqueue(request(text))
    assert driver.sent == ["a"]
    assert driver.queue.items == ()
    driver.queue.notify_idle()
    driver.queue.enqueue(request("d"))
    assert driver.sent == ["a", "d"]


def test_what_is_shown_of_a_waiting_message() -> None:
    attachment = CompleteAttachment(
        id="x", type="image", name="x.png", content=(TextPart("hidden"), ImagePart(image="data:x", filename="x.png"))
    )
    content: tuple[Any, ...] = (TextPart("look"), FilePart(data="f", media_type="text/plain"))
    message = UserMessage(id="u", created_at=LONG_AGO, content=content, attachments=(attachment,))
    item = queue_item(message)
    assert item.prompt == "look"
    assert item.parts == (*content, FilePart(data="data:x", media_type="image/*", filename="x.png"))
    assert ReasoningPart("x") not in item.parts


ACTIONS = st.lists(
    st.sampled_from(["enqueue", "steer", "busy", "idle", "cancelled", "remove", "clear", "front", "to steer", "fail"]),
    max_size=40,
)


@pytest.mark.parametrize("kind", [Driver, CancellingDriver])
@given(actions=ACTIONS)
def test_whatever_happens_every_message_is_sent_at_most_once_and_none_is_lost(
    kind: type[Driver], actions: list[str]
) -> None:
    driver = kind()
    given_: list[str] = []
    dropped: list[str] = []
    for number, action in enumerate(actions):
        at = ids(driver)
        match action:
            case "enqueue" | "steer":
                given_.append(f"<{number}>")
                getattr(driver.queue, action)(request(given_[-1]))
            case "busy" | "idle" | "cancelled":
                getattr(driver.queue, f"notify_{action}")()
            case "remove" if at:
                dropped.append(min(at))
                driver.queue.remove(at[min(at)])
            case "clear":
                dropped += at
                driver.queue.clear()
            case "front" if driver.queue.items:
                driver.queue.move(driver.queue.items[-1].id, insert_after=None)
            case "to steer" if driver.queue.items:
                driver.queue.move(driver.queue.items[-1].id, lane="steer")
            case "fail":
                driver.failures = 1
            case _:
                pass
    there = [*driver.sent, *dropped, *ids(driver)]
    assert sorted(there) == sorted(given_)
    driver.failures = 0
    driver.queue.enqueue(request("last"))
    for _ in range(3 * len(actions) + 3):
        driver.queue.notify_idle()
    assert not ids(driver)
    assert sorted(driver.sent) == sorted(
        [*given_, "last"][i] for i in range(len(given_) + 1) if [*given_, "last"][i] not in dropped
    )
