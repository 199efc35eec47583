"""The view is the base with every change on top; settling in any order comes to the same list."""

from __future__ import annotations

from functools import reduce

import attrs
from hypothesis import given
from hypothesis import strategies as st

from partwise.adapters import StoredThread, ThreadIds, ThreadPage
from partwise.runtimes.thread_list._changes import (
    Began,
    Change,
    Customized,
    Deleted,
    Initialized,
    Moved,
    Renamed,
    apply,
)
from partwise.runtimes.thread_list._ledger import (
    Ledger,
    began,
    confirmed,
    failed,
    fetch_began,
    fetch_ended,
    view,
)
from partwise.runtimes.thread_list._listing import Listing, placed
from partwise.runtimes.thread_list._pages import merged_fresh, merged_more, merged_thread

IDS = ("a", "b", "c", "n")
ids = st.sampled_from(IDS)
changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(Renamed, ids, st.sampled_from(["x", "y", "z", None])),
    st.builds(Customized, ids, st.fixed_dictionaries({"v": st.integers(0, 3)})),
    st.builds(Moved, ids, st.sampled_from(["regular", "archived"])),
    st.builds(Deleted, ids),
    st.builds(Initialized, ids, st.sampled_from([None, ThreadIds(id="r"), ThreadIds(id="a")])),
    st.builds(Began, ids),
)
pages = st.builds(
    ThreadPage,
    threads=st.lists(
        st.builds(
            StoredThread,
            id=st.sampled_from(["a", "b", "c", "r"]),
            status=st.sampled_from(["regular", "archived"]),
            title=st.sampled_from([None, "p", "q"]),
        ),
        max_size=4,
        unique_by=lambda thread: thread.id,
    ),
)


def listing(*threads: str) -> Listing:
    page = ThreadPage(threads=[StoredThread(id=id, title=id.upper()) for id in threads])
    return apply(merged_fresh(Listing(), page, ()), Began("n"))


def check_whole(found: Listing) -> None:
    """Each record is in the list of its status, once; ids of both kinds lead to one record each."""
    assert sorted(found.ids) == sorted(found.records)
    for id, record in found.records.items():
        assert record.id == id
        assert id in getattr(found, f"{record.status}_ids")
    for remote_id, id in found.aliases.items():
        assert found.records[id].remote_id == remote_id
    remote_ids = [record.remote_id for record in found.records.values() if record.remote_id is not None]
    assert len(remote_ids) == len(set(remote_ids))
    assert {record.remote_id for record in found.records.values()} - {None} == set(found.aliases)


@given(st.lists(changes, max_size=8))
def test_any_row_of_changes_leaves_a_whole_list(row: list[Change]) -> None:
    found = listing("a", "b", "c")
    for change in row:
        found = apply(found, change)
        check_whole(found)


@given(st.lists(changes, max_size=5), changes)
def test_a_change_done_twice_is_done_once(row: list[Change], change: Change) -> None:
    once = apply(reduce(apply, row, listing("a", "b", "c")), change)

    assert apply(once, change) == once


@given(st.lists(changes, max_size=5), pages, st.booleans())
def test_what_is_fetched_leaves_a_whole_list(row: list[Change], page: ThreadPage, is_fresh: bool) -> None:
    found = reduce(apply, row, listing("a", "b", "c"))

    merged = merged_fresh(found, page, {"a"}) if is_fresh else merged_more(found, page)
    for thread in page.threads:
        check_whole(merged_thread(found, thread))

    check_whole(merged)
    assert all(merged.find(thread.id) is not None for thread in page.threads)


@given(st.data(), st.lists(st.tuples(changes, st.booleans()), max_size=7))
def test_the_order_in_which_changes_settle_changes_nothing(data: st.DataObject, row: list[tuple[Change, bool]]) -> None:
    ledger = Ledger(base=listing("a", "b", "c"))
    numbers: list[tuple[int, bool]] = []
    for change, is_good in row:
        ledger, number = began(ledger, change)
        numbers.append((number, is_good))
    for number, is_good in data.draw(st.permutations(numbers)):
        ledger = confirmed(ledger, number) if is_good else failed(ledger, number)
        check_whole(view(ledger))

    good = [change for change, is_good in row if is_good]
    assert ledger.entries == ()
    assert ledger.base == reduce(apply, good, listing("a", "b", "c"))


def test_only_the_failed_one_of_three_renames_disappears() -> None:
    ledger = Ledger(base=listing("a"))
    numbers: list[int] = []
    for title in ("one", "two", "three"):
        ledger, number = began(ledger, Renamed("a", title))
        numbers.append(number)
    ledger = confirmed(ledger, numbers[2])
    ledger = failed(ledger, numbers[1])
    assert view(ledger).records["a"].title == "three"

    ledger = confirmed(ledger, numbers[0])

    assert ledger.base.records["a"].title == "three"


@given(st.lists(changes, max_size=4), st.lists(changes, max_size=4), pages)
def test_what_was_confirmed_during_a_fetch_is_not_undone_by_it(
    before: list[Change], during: list[Change], page: ThreadPage
) -> None:
    ledger = Ledger(base=listing("a", "b", "c"))
    for change in before:
        ledger, number = began(ledger, change)
        ledger = confirmed(ledger, number)
    ledger, fetch = fetch_began(ledger)
    for change in during:
        ledger, number = began(ledger, change)
        ledger = confirmed(ledger, number)

    ledger = fetch_ended(ledger, fetch, lambda base: merged_fresh(base, page, ()))

    confirmed_before = reduce(apply, before, listing("a", "b", "c"))
    assert view(ledger) == reduce(apply, during, merged_fresh(confirmed_before, page, ()))
    assert ledger.entries == ()


def test_a_page_does_not_bring_an_older_title_over_one_that_is_still_unsettled() -> None:
    ledger, number = began(Ledger(base=listing("a")), Renamed("a", "mine"))
    ledger, fetch = fetch_began(ledger)
    page = ThreadPage(threads=[StoredThread(id="a", title="theirs")])
    ledger = fetch_ended(ledger, fetch, lambda base: merged_fresh(base, page, ()))
    assert view(ledger).records["a"].title == "mine"

    assert view(failed(ledger, number)).records["a"].title == "theirs"


def test_a_thread_that_a_page_listed_before_its_making_was_confirmed_is_one_thread() -> None:
    ledger, number = began(Ledger(base=listing()), Initialized("n"))
    ledger, fetch = fetch_began(ledger)
    page = ThreadPage(threads=[StoredThread(id="r", title="Theirs")])
    ledger = fetch_ended(ledger, fetch, lambda base: merged_fresh(base, page, ()))
    assert view(ledger).ids == ("n", "r")

    ledger = attrs.evolve(
        ledger,
        entries=tuple(attrs.evolve(entry, change=Initialized("n", ThreadIds(id="r"))) for entry in ledger.entries),
    )
    ledger = confirmed(ledger, number)

    assert ledger.base.ids == ("n",)
    record = ledger.base.find("r")
    assert record is not None
    assert (record.id, record.title, record.status) == ("n", "Theirs", "regular")


def test_a_placed_record_keeps_its_place_unless_its_status_changes() -> None:
    found = listing("a", "b")
    record = attrs.evolve(found.records["b"], title="new")

    assert placed(found, record, at="front").regular_ids == ("a", "b")
    assert placed(found, attrs.evolve(record, status="archived"), at="front").archived_ids == ("b",)


def test_a_newer_fetch_does_not_make_an_older_one_undo_what_it_does_not_know_of() -> None:
    ledger, older = fetch_began(Ledger(base=listing("a", "b")))
    ledger, number = began(ledger, Moved("a", "archived"))
    ledger = confirmed(ledger, number)
    ledger, newer = fetch_began(ledger)
    ledger = fetch_ended(ledger, newer, lambda base: merged_thread(base, StoredThread(id="b", title="B")))
    page = ThreadPage(threads=[StoredThread(id="a", title="A"), StoredThread(id="b", title="B")])

    ledger = fetch_ended(ledger, older, lambda base: merged_fresh(base, page, ()))

    assert ledger.entries == ()
    assert ledger.base.archived_ids == ("a",)
