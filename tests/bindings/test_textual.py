"""Widgets that follow slices of a thread which knows nothing of the app."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

import anyio
import anyio.abc
import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from partwise.bindings.textual import FRAMES, Follows, StreamedMarkdown
from partwise.reactive import Store


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the only loop that Textual runs on


class Label(Follows, Static):
    def __init__(self, store: Store[str], hz: float | None = None) -> None:
        super().__init__(markup=False)
        self.store = store
        self.hz = hz
        self.seen: list[str] = []

    def on_mount(self) -> None:
        self.follow(self.store.select(lambda text: text), self.show, hz=self.hz)

    def show(self, text: str) -> None:
        self.seen.append(text)
        self.update(text)

    def on_unmount(self) -> None:
        self.seen.append("unmounted")


class Page(Follows, StreamedMarkdown):
    def __init__(self, store: Store[str]) -> None:
        super().__init__()
        self.store = store
        self.appended: list[str] = []
        self.updates = 0

    def on_mount(self) -> None:
        self.follow(self.store.select(lambda text: text), self.show, hz=FRAMES)

    def append(self, markdown: str):  # type: ignore[no-untyped-def]  # as in Textual
        self.appended.append(markdown)
        return super().append(markdown)

    def update(self, markdown: str):  # type: ignore[no-untyped-def]  # as in Textual
        self.updates += 1
        return super().update(markdown)


class Shell(App[None]):
    def __init__(self, *widgets: Static | Page) -> None:
        super().__init__()
        self.widgets = widgets

    def compose(self) -> ComposeResult:
        yield from self.widgets


async def until(pilot: Pilot[None], is_so: Callable[[], object]) -> None:
    for _ in range(400):
        await pilot.pause(0.01)
        if is_so():
            return
    raise AssertionError


@pytest.fixture
async def outside() -> AsyncGenerator[anyio.abc.TaskGroup, None]:
    """Tasks that were there before any app, and know none."""
    async with anyio.create_task_group() as tasks:
        yield tasks
        tasks.cancel_scope.cancel()


async def test_a_burst_is_one_update_with_the_newest_value() -> None:
    store = Store("")
    label = Label(store)
    async with Shell(label).run_test() as pilot:
        await pilot.pause()
        label.seen.clear()
        for number in range(100):
            store.commit(str(number))
        assert label.seen == []
        await until(pilot, lambda: label.seen)

        assert label.seen == ["99"]


async def test_frames_limit_the_updates_and_the_last_value_comes() -> None:
    store = Store("")
    label = Label(store, hz=FRAMES)
    async with Shell(label).run_test() as pilot:
        await pilot.pause()
        label.seen.clear()
        started = anyio.current_time()
        for number in range(40):
            store.commit(str(number))
            await anyio.sleep(0.01)
        await until(pilot, lambda: label.seen[-1:] == ["39"])
        frames = (anyio.current_time() - started) * FRAMES

        assert 2 <= len(label.seen) <= frames + 2


async def test_a_removed_widget_is_told_nothing_and_holds_nothing() -> None:
    store = Store("")
    label = Label(store)
    async with Shell(label).run_test() as pilot:
        await pilot.pause()
        assert store.statistics().live_slices == 1
        await label.remove()
        store.commit("late")
        await pilot.pause()

        assert label.seen[-1] == "unmounted"
        assert store.statistics().live_slices == 0


async def test_following_can_be_ended_earlier() -> None:
    store = Store("")
    label = Label(store)
    heard: list[str] = []
    async with Shell(label).run_test() as pilot:
        await pilot.pause()
        end = label.follow(store.select(lambda text: text * 2), heard.append)
        await until(pilot, lambda: heard == [""])
        store.commit("a")
        await until(pilot, lambda: heard == ["", "aa"])
        end()
        store.commit("b")
        await until(pilot, lambda: label.seen[-1] == "b")

        assert heard == ["", "aa"]


async def test_all_blocks_are_mounted_when_the_text_comes_from_outside(outside: anyio.abc.TaskGroup) -> None:
    store = Store("")
    page = Page(store)
    text = "".join(f"## Part {number}\n\nSome *words* about it.\n\n- one\n- two\n\n" for number in range(8))

    async def write() -> None:
        for end in range(1, len(text) + 1, 7):
            store.commit(text[:end])
            await anyio.sleep(0.001)
        store.commit(text)

    async with Shell(page).run_test(size=(80, 100)) as pilot:  # B100
        await pilot.pause()
        page.updates = 0
        outside.start_soon(write)
        await until(pilot, lambda: len(page.query("MarkdownH2")) == 8 and len(page.query("MarkdownBulletList")) == 8)
        await until(pilot, lambda: page.updates and text.endswith(page.appended[-1]))

        assert page.updates == 1
        assert len(page.appended) < 40
        assert sum(map(len, page.appended)) < len(text)
        assert len(page.query("MarkdownParagraph")) >= 8


async def test_a_text_that_does_not_continue_is_shown_anew() -> None:
    store = Store("")
    page = Page(store)
    async with Shell(page).run_test() as pilot:
        await pilot.pause()
        page.updates = 0
        for number, text in enumerate(("first words", "other words"), start=1):
            store.commit(text)
            await until(pilot, lambda number=number: page.updates == number and len(page.children) == 1)

        assert page.source == "other words"
        assert page.appended == []
