"""Selectors that are a path are looked up; those that only look like one are not."""

from __future__ import annotations

import attrs
import pytest

from partwise.reactive import KeyedSeq, Store, attr, key, record


@attrs.frozen
class Leaf:
    text: str = ""
    tags: tuple = ()


@attrs.frozen
class Sly:
    """Has what a path would name, but as a decision."""

    inner: Leaf
    other: Leaf

    @property
    def text(self) -> str:
        return self.inner.text if self.inner.text != "go" else self.other.text


@attrs.frozen
class Tree:
    items: KeyedSeq = attrs.field(factory=KeyedSeq)
    table: dict = attrs.field(factory=dict)
    one: object = Leaf()
    two: object = Leaf()


def tree(**changes) -> Tree:
    items = KeyedSeq([("a", Leaf("a1", ("x",))), ("b", Leaf("b1", ("y", "z")))])
    return attrs.evolve(Tree(items, {"k": Leaf("k1")}), **changes)


def calls_of(selector, *states) -> tuple[list, bool]:
    """Return what is emitted over some states, and whether the function was found to be nothing but a path."""
    store = Store(states[0])
    heard = store.select(selector).pipe(record())
    for state in states[1:]:
        store.commit(state)
    (cell,) = store._engine.cells
    return heard.values, cell.is_straight


def with_a(state: Tree, text: str) -> Tree:
    return attrs.evolve(state, items=state.items.replace("a", Leaf(text, (text,))))


PATHS = {
    "index": lambda s: s.items[0].text,
    "from the end": lambda s: s.items[-2].text,
    "key": lambda s: s.items.by_key("a").text,
    "get": lambda s: s.items.get("a").tags[-1],
    "default argument": lambda s, id="a": s.items.by_key(id).text,
    "container": lambda s: s.items[0].tags,
    "object": lambda s: s.items[0],
}


@pytest.mark.parametrize("name", PATHS)
def test_a_path_is_looked_up_from_its_second_change_on(name):
    selector = PATHS[name]
    states = [tree()]
    for text in ("a2", "a3", "a4"):
        states.append(with_a(states[-1], text))

    heard, straight = calls_of(selector, *states)

    assert heard == [selector(state) for state in states]
    assert straight


TABLE = {Leaf("a1", ("x",)): "first", Leaf("a2", ("a2",)): "second", Leaf("a3", ("a3",)): "third"}
DECISIONS = {
    "condition": lambda s: s.items[0].text if s.items[0].text != "a3" else s.two.text,
    "two reads": lambda s: s.items[0].text + s.two.text,
    "call": lambda s: len(s.items[0].text),
    "lookup elsewhere": lambda s: TABLE[s.items[0]],
    "and": lambda s: s.items and s.items[0].text,
    "slice": lambda s: s.items[0].tags[0:1],
    "constant": lambda s: 7,
    "whole": lambda s: s,
    "tuple": lambda s: (s.items[0].text,),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_what_is_more_than_a_path_is_run_every_time(name):
    selector = DECISIONS[name]
    states = [tree(), with_a(tree(), "a2"), with_a(tree(), "a3")]

    heard, straight = calls_of(selector, *states)

    expected = [selector(state) for state in states]
    assert heard == [value for n, value in enumerate(expected) if n == 0 or value != expected[n - 1]]
    assert not straight


def test_a_property_with_a_decision_is_followed():
    def state(inner: str, other: str) -> Tree:
        return tree(one=Sly(Leaf(inner), Leaf(other)))

    heard, _ = calls_of(
        lambda s: s.one.text, state("x", "o"), state("y", "o"), state("go", "o"), state("go", "p"), state("z", "p")
    )

    assert heard == ["x", "y", "o", "p", "z"]


def test_a_field_that_becomes_a_property_is_followed():
    states = [tree(one=Leaf("1")), tree(one=Leaf("2")), tree(one=Leaf("3"))]
    states += [tree(one=Sly(Leaf("go"), Leaf("4"))), tree(one=Sly(Leaf("go"), Leaf("5"))), tree(one=Leaf("6"))]

    heard, _ = calls_of(lambda s: s.one.text, *states)

    assert heard == ["1", "2", "3", "4", "5", "6"]


def test_a_path_that_breaks_and_comes_back_is_reported_and_goes_on():
    seen = []
    store = Store(tree(), on_error=lambda error, context: seen.append(type(error)))
    heard = store.select(lambda s: s.items[1].text).pipe(record())
    for text in ("2", "3"):
        store.update(lambda s, text=text: attrs.evolve(s, items=s.items.replace("b", Leaf(text))))

    store.update(lambda s: attrs.evolve(s, items=s.items.truncate(1)))
    store.update(lambda s: attrs.evolve(s, items=s.items.append("c", Leaf("4"))))

    assert heard.values == ["b1", "2", "3", "4"]
    assert seen == [IndexError]


def test_a_selector_on_an_address_is_its_own_path_only():
    table = {Leaf(text): text.upper() for text in ("1", "2", "3")}
    store = Store(tree(items=KeyedSeq([("a", Leaf("1"))])))
    place = store.at(attr("items"), key("a"))
    looked_up = place.select(lambda leaf: table[leaf]).pipe(record())
    text = place.select(lambda leaf: leaf.text).pipe(record())
    itself = place.select(lambda leaf: leaf).pipe(record())

    for new in ("2", "3"):
        store.update(lambda s, new=new: attrs.evolve(s, items=s.items.replace("a", Leaf(new))))

    assert looked_up.values == text.values == ["1", "2", "3"]
    assert itself.values == [Leaf("1"), Leaf("2"), Leaf("3")]
