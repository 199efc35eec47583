"""Small snapshots for the tests of the store: random ones, random changes, and selectors that use everything."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import attrs

from partwise.reactive import KeyedSeq


@attrs.frozen
class Text:
    text: str

    @property
    def words(self) -> int:
        return len(self.text.split("x"))


@attrs.frozen
class Tool:
    name: str
    args: dict
    result: object = None

    def is_open(self) -> bool:
        return self.result is None


@attrs.frozen
class Message:
    id: str
    role: str = "user"
    content: tuple = ()
    parent: str | None = None
    meta: dict = attrs.field(factory=dict, hash=False)

    def text(self) -> str:
        return "".join(part.text for part in self.content if isinstance(part, Text))

    @property
    def first(self) -> object:
        return self.content[0] if self.content else None

    @staticmethod
    def marked(text: str) -> str:
        return f"<{text}>"

    @classmethod
    def made(cls, id: str) -> Message:
        return cls(id)

    def __len__(self) -> int:
        return len(self.content)


@attrs.frozen(slots=False)
class Loose:
    a: int = 0
    b: tuple = ()

    @cached_property
    def double(self) -> int:
        return self.a * 2


@attrs.frozen
class World:
    messages: KeyedSeq = attrs.field(factory=KeyedSeq)
    running: bool = False
    pinned: Message | None = None
    tags: tuple = ()
    table: dict = attrs.field(factory=dict)
    n: int = 0
    loose: Loose = Loose()
    other: Message | None = None

    def last(self) -> Message | None:
        return self.messages[-1] if self.messages else None

    @property
    def open_tools(self) -> int:
        return sum(1 for m in self.messages for p in m.content if isinstance(p, Tool) and p.is_open())


IDS = tuple("abcdefgh")


def random_part(rng: random.Random) -> object:
    if rng.random() < 0.6:
        return Text(rng.choice(("", "x", "y", "xy", "zz")))
    args = {k: rng.randrange(3) for k in rng.sample("pqr", rng.randrange(3))}
    return Tool(rng.choice("st"), args, rng.choice((None, 1, "ok", (1, 2), {"p": 1})))


def random_message(rng: random.Random, id: str) -> Message:
    content = tuple(random_part(rng) for _ in range(rng.randrange(4)))
    meta = {k: rng.choice((1, "v", (1,), {"deep": rng.randrange(2)})) for k in rng.sample("uvw", rng.randrange(3))}
    return Message(id, rng.choice(("user", "assistant")), content, rng.choice((None, *IDS)), meta)


def random_world(rng: random.Random) -> World:
    ids = rng.sample(IDS, rng.randrange(5))
    messages = KeyedSeq((id, random_message(rng, id)) for id in ids)
    return World(messages, tags=tuple(rng.sample("klmn", rng.randrange(4))), table={"k": 1, "m": ("x",)})


def change(world: World, rng: random.Random) -> World:
    """Commit one random change, of a random kind."""
    return rng.choice(CHANGES)(world, rng)


def _some(world: World, rng: random.Random) -> Message | None:
    return rng.choice(list(world.messages)) if world.messages else None


def _free(world: World) -> list[str]:
    return [id for id in IDS if id not in world.messages]


def _put(world: World, message: Message) -> World:
    return attrs.evolve(world, messages=world.messages.replace(message.id, message))


def replace_message(world: World, rng: random.Random) -> World:
    old = _some(world, rng)
    return _put(world, random_message(rng, old.id)) if old else world


def equal_copy(world: World, rng: random.Random) -> World:
    old = _some(world, rng)
    return _put(world, attrs.evolve(old)) if old else world


def grow_part(world: World, rng: random.Random) -> World:
    old = _some(world, rng)
    if not old or not old.content:
        return world
    at = rng.randrange(len(old.content))
    part = old.content[at]
    new = (
        attrs.evolve(part, text=part.text + "x")
        if isinstance(part, Text)
        else attrs.evolve(part, result=rng.randrange(3))
    )
    return _put(world, attrs.evolve(old, content=(*old.content[:at], new, *old.content[at + 1 :])))


def add_part(world: World, rng: random.Random) -> World:
    old = _some(world, rng)
    return _put(world, attrs.evolve(old, content=(*old.content, random_part(rng)))) if old else world


def drop_part(world: World, rng: random.Random) -> World:
    old = _some(world, rng)
    return _put(world, attrs.evolve(old, content=old.content[1:])) if old else world


def append(world: World, rng: random.Random) -> World:
    free = _free(world)
    if not free:
        return world
    id = rng.choice(free)
    return attrs.evolve(world, messages=world.messages.append(id, random_message(rng, id)))


def insert(world: World, rng: random.Random) -> World:
    free = _free(world)
    if not free:
        return world
    id = rng.choice(free)
    at = rng.choice((0, rng.randrange(len(world.messages) + 1)))
    return attrs.evolve(world, messages=world.messages.insert(at, id, random_message(rng, id)))


def remove(world: World, rng: random.Random) -> World:
    old = _some(world, rng)
    return attrs.evolve(world, messages=world.messages.remove(old.id)) if old else world


def truncate(world: World, rng: random.Random) -> World:
    return attrs.evolve(world, messages=world.messages.truncate(rng.randrange(len(world.messages) + 1)))


def reorder(world: World, rng: random.Random) -> World:
    items = list(world.messages.items())
    rng.shuffle(items)
    return attrs.evolve(world, messages=world.messages.with_items(items))


def rebuild(world: World, rng: random.Random) -> World:
    return attrs.evolve(world, messages=KeyedSeq(world.messages.items()))


def flip(world: World, rng: random.Random) -> World:
    return attrs.evolve(world, running=not world.running)


def pin(world: World, rng: random.Random) -> World:
    return attrs.evolve(world, pinned=rng.choice((None, _some(world, rng), random_message(rng, "pin"))))


def set_other(world: World, rng: random.Random) -> World:
    return attrs.evolve(world, other=rng.choice((None, world.pinned, _some(world, rng))))


def set_tags(world: World, rng: random.Random) -> World:
    return attrs.evolve(world, tags=tuple(rng.sample("klmn", rng.randrange(5))))


def set_table(world: World, rng: random.Random) -> World:
    table = dict(world.table)
    key = rng.choice("klm")
    if rng.random() < 0.3:
        table.pop(key, None)
    else:
        table[key] = rng.choice((1, 2, "s", ("x",), ("x", "y"), {"d": rng.randrange(2)}, None))
    return attrs.evolve(world, table=table)


def set_n(world: World, rng: random.Random) -> World:
    return attrs.evolve(world, n=rng.randrange(4), loose=Loose(rng.randrange(3), (rng.randrange(2),)))


def several(world: World, rng: random.Random) -> World:
    for _ in range(3):
        world = change(world, rng)
    return world


CHANGES: tuple[Callable[[World, random.Random], World], ...] = (
    replace_message, equal_copy, grow_part, grow_part, grow_part, add_part, drop_part, append, append, insert, remove,
    truncate, reorder, rebuild, flip, pin, set_other, set_tags, set_table, set_n, several,
)  # fmt: skip


def _match_last(s: World) -> object:
    match s.messages:
        case []:
            return "none"
        case [only]:
            return ("one", only.id)
        case [*_, Message(role="assistant", content=[Text(text), *rest])]:
            return ("answer", text, len(rest))
        case [Message(id=a), *_, Message(id=b, content=content)]:
            return (a, b, len(content))
    return "other"


def _match_table(s: World) -> object:
    match s.table:
        case {"k": int(n), **rest}:
            return (n, sorted(rest))
        case {"m": (x, *_)}:
            return x
        case {"l": {"d": d}}:
            return d
    return None


def _match_result(s: World) -> object:
    out = []
    for m in s.messages:
        for p in m.content:
            match p:
                case Text(text="x"):
                    out.append("X")
                case Tool(name="s", result=None):
                    out.append("open")
                case Tool(args={"p": value}):
                    out.append(value)
                case Tool(result=(a, b)):
                    out.append(a + b)
                case _:
                    pass
    return out


def _catching(s: World) -> object:
    try:
        return s.messages[2].content[1].text
    except (IndexError, AttributeError) as error:
        return type(error).__name__


def _by_loop(s: World) -> object:
    for m in s.messages:
        if m.role == "assistant":
            return m
    return None


def _equal_parts(s: World) -> object:
    return s.pinned == s.last(), s.pinned is s.other, s.pinned is not None and s.pinned in list(s.messages)


def _evolved(s: World) -> object:
    return attrs.evolve(s.messages[0], meta=s.table) if s.messages else attrs.evolve(s.loose, b=s.tags)


class Hidden:
    """Hides what it holds from those who look for stand-ins."""

    def __init__(self, held: object) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hidden) and self.held == other.held

    __hash__ = None


ZOO: dict[str, Callable[[World], object]] = {
    "everything": lambda s: s,
    "number": lambda s: s.n,
    "constant": lambda s: 7,
    "flag": lambda s: s.running,
    "last text": lambda s: s.messages[-1].content[0].text,
    "last text or none": lambda s: s.messages[-1].text() if s.messages else None,
    "ids": lambda s: tuple(m.id for m in s.messages),
    "keys": lambda s: s.messages.keys(),
    "first": lambda s: s.messages[0],
    "second role": lambda s: s.messages[1].role if len(s.messages) > 1 else "-",
    "from the end": lambda s: [m.role for m in s.messages[-2:]],
    "every other": lambda s: [m.id for m in s.messages[::2]],
    "window": lambda s: s.messages[1:3],
    "by key": lambda s: s.messages.get("a"),
    "by key text": lambda s: s.messages.by_key("b").text(),
    "by key default": lambda s: s.messages.get("c", "nothing"),
    "has": lambda s: ("a" in s.messages, "d" in s.messages),
    "place": lambda s: s.messages.index_of("a") if "a" in s.messages else -1,
    "key at": lambda s: s.messages.key_at(-1) if s.messages else None,
    "items": lambda s: {k: m.role for k, m in s.messages.items()},
    "count": lambda s: len(s.messages),
    "truth": lambda s: bool(s.messages),
    "any open": lambda s: any(isinstance(p, Tool) and p.result is None for m in s.messages for p in m.content),
    "all user": lambda s: all(m.role == "user" for m in s.messages),
    "sorted": lambda s: sorted(m.text() for m in s.messages),
    "sorted by": lambda s: [m.id for m in sorted(s.messages, key=lambda m: (len(m.content), m.id))],
    "longest": lambda s: max((m for m in s.messages), key=lambda m: len(m.text()), default=None),
    "smallest": lambda s: min((m.id for m in s.messages), default="-"),
    "sum": lambda s: sum(len(m.content) for m in s.messages),
    "reversed": lambda s: [m.id for m in reversed(s.messages)],
    "enumerate": lambda s: [(i, m.role) for i, m in enumerate(s.messages)],
    "zip": lambda s: [(a.id, b.id) for a, b in zip(s.messages, s.messages[1:], strict=False)],
    "assistants": lambda s: [m for m in s.messages if m.role == "assistant"],
    "set": lambda s: {m.role for m in s.messages},
    "dictionary": lambda s: {m.id: m for m in s.messages},
    "objects": lambda s: {"n": s.n, "pinned": s.pinned, "tags": list(s.tags)},
    "format": lambda s: f"{s.n}:{s.running}:{s.tags}:{s.pinned!r}",
    "isinstance": lambda s: isinstance(s.pinned, Message) and isinstance(s.messages, Sequence),
    "is none": lambda s: s.pinned is None,
    "pinned first": lambda s: s.pinned.first if s.pinned else None,
    "pinned length": lambda s: len(s.pinned) if s.pinned is not None else -1,
    "path switch": lambda s: s.messages[0].role if s.running and s.messages else s.n,
    "tool args": lambda s: [p.args.get("p", 0) for m in s.messages for p in m.content if isinstance(p, Tool)],
    "tool keys": lambda s: [sorted(p.args) for m in s.messages for p in m.content if isinstance(p, Tool)],
    "open tools": lambda s: s.open_tools,
    "words": lambda s: [p.words for m in s.messages for p in m.content if isinstance(p, Text)],
    "table get": lambda s: s.table.get("k"),
    "table item": lambda s: s.table["k"],
    "table items": lambda s: [(k, v) for k, v in s.table.items()],
    "table values": lambda s: list(s.table.values()),
    "table keys": lambda s: list(s.table),
    "table size": lambda s: len(s.table),
    "table has": lambda s: "l" in s.table,
    "table merged": lambda s: {**s.table, "n": s.n},
    "table or": lambda s: s.table | {"z": 1},
    "table deep": lambda s: s.table["l"]["d"] if isinstance(s.table.get("l"), Mapping) else None,
    "table view": lambda s: dict(s.table.items()),
    "tags in": lambda s: "k" in s.tags,
    "tags joined": lambda s: "-".join(s.tags),
    "tags plus": lambda s: (*s.tags, "end"),
    "tags added": lambda s: operator.add(s.tags, ("end",)),
    "tags radded": lambda s: operator.add(("start",), s.tags),
    "tags index": lambda s: s.tags.index("k") if s.tags.count("k") else -1,
    "tags less": lambda s: s.tags < ("l",),
    "tags set": lambda s: frozenset(s.tags) & {"k", "l"},
    "tags unpacked": lambda s: max(*s.tags, "a", "b"),
    "match last": _match_last,
    "match table": _match_table,
    "match parts": _match_result,
    "catching": _catching,
    "loop": _by_loop,
    "equal": _equal_parts,
    "evolved": _evolved,
    "hash": lambda s: hash(s.tags),
    "hashable": lambda s: {s.pinned: 1} if s.pinned is not None and not s.pinned.meta else None,
    "identity": lambda s: [m is s.messages[-1] for m in s.messages],
    "identity of other": lambda s: (s.pinned is s.other, s.pinned is s.last()),
    "alias reads": lambda s: [s.messages.get(m.id).text() for m in s.messages if m is not s.pinned],
    "parents": lambda s: [s.messages.get(m.parent) for m in s.messages if m.parent],
    "method": lambda s: s.last(),
    "static": lambda s: Message.marked(s.last().id) if s.last() else s.n,
    "static through": lambda s: s.pinned.marked(s.pinned.id) if s.pinned is not None else s.n,
    "class method": lambda s: s.pinned.made("q") if s.pinned is not None else None,
    "cached": lambda s: s.loose.double,
    "loose": lambda s: s.loose.b[0] if s.loose.b else None,
    "meta": lambda s: [m.meta.get("u") for m in s.messages],
    "meta deep": lambda s: [v for m in s.messages for v in m.meta.values() if isinstance(v, Mapping)],
    "getattr": lambda s: getattr(s, "missing", s.n),
    "hasattr": lambda s: hasattr(s.messages[0], "role") if s.messages else s.running,
    "nested": lambda s: {"a": [{"m": (s.last(), {"x": s.pinned})}]},
    "replaced": lambda s: s.messages.replace(s.messages[0].id, s.pinned) if s.messages else None,
    "keyed of": lambda s: KeyedSeq.of((m for m in s.messages if m.content), key=lambda m: m.id),
    "hidden": lambda s: Hidden(s.last()),
    "arithmetic": lambda s: (s.n + 1) * 2 % 3 - s.loose.a,
    "raises": lambda s: 1 // s.n,
    "raises often": lambda s: s.messages[2].content[0].text.upper(),
    "as dict": lambda s: attrs.asdict(s.loose),
    "type of": lambda s: s.pinned.__class__.__name__,
    "empty or": lambda s: s.tags or ["none"],
    "star": lambda s: [*s.messages, *s.tags],
    "json": lambda s: str(s.table),
}  # fmt: skip


def random_selector(rng: random.Random, depth: int = 3) -> Callable[[object], object]:
    """Make a selector of random reads and decisions; it never raises."""
    return _guarded(_random_selector(rng, depth))


def _guarded(selector: Callable[[object], object]) -> Callable[[object], object]:
    def run(value: object) -> object:
        try:
            return selector(value)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            return type(error).__name__

    return run


def _random_selector(rng: random.Random, depth: int) -> Callable[[object], object]:
    if depth == 0:
        return rng.choice(_ENDS)
    below, other, third = (_random_selector(rng, depth - 1) for _ in range(3))
    guarded = _guarded(below)
    name = rng.choice(("messages", "pinned", "tags", "table", "n", "content", "role", "text", "args", "result", "meta"))
    index = rng.choice((0, 1, -1, -2))
    key = rng.choice(("a", "b", "k", "l", "u", "p"))
    start = rng.choice((None, 0, 1, -2))
    return rng.choice(
        (
            lambda v: below(getattr(v, name)),
            lambda v: below(getattr(v, name)),
            lambda v: below(getattr(v, name)),
            lambda v: below(v.messages[index]),
            lambda v: below(v.messages[index].content),
            lambda v: below(v.messages.get(key)),
            lambda v: below(v[index]),
            lambda v: below(v.get(key)),
            lambda v: below(v[start:]),
            lambda v: [guarded(item) for item in v],
            lambda v: [guarded(item) for item in v.messages],
            lambda v: next((guarded(item) for item in v.messages if item.role == "user"), None),
            lambda v: below(v) if other(v) else third(v),
            lambda v: (below(v), other(v)),
            lambda v: below(v) == other(v),
            lambda v: below(v) is other(v),
            lambda v: {"x": below(v)},
            lambda v: below(v.last()),
        )
    )


_ENDS: tuple[Callable[[object], object], ...] = (
    lambda v: v,
    lambda v: v,
    len,
    bool,
    str,
    lambda v: isinstance(v, Message),
    lambda v: isinstance(v, tuple),
    lambda v: "k" in v,
    lambda v: v is None,
    list,
    lambda v: v.role,
)
