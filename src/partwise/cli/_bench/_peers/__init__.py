"""The peers of the race, by label."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import attrs

from partwise.cli._bench._protocol import Peer

from ._floor import Floor
from ._observ import Observ
from ._partwise import Address, Tracked
from ._psygnal import Psygnal
from ._reaktiv import Reaktiv
from ._redux import Redux
from ._rx import RxPipe

__all__ = ["PEERS", "Entry", "absence"]


@attrs.frozen
class Entry:
    """A peer that can be entered.

    Attributes:
        needs: The module that it needs, and the package that has it; None for what partwise itself needs.
        about: What it is, in a few words.
    """

    make: Callable[[], Peer]
    about: str
    needs: tuple[str, str] | None = None


PEERS: dict[str, Entry] = {
    "floor": Entry(Floor, "the same frozen update by hand and one direct call"),
    "partwise": Entry(Tracked, "a tracked selector for each part"),
    "partwise-twin": Entry(Tracked, "partwise once more: what differs is noise"),
    "partwise-address": Entry(Address, "the address of each part"),
    "rx-pipe": Entry(RxPipe, "a bare Rx pipe for each part"),
    "psygnal": Entry(Psygnal, "one signal, a comparing callback for each part", ("psygnal", "psygnal")),
    "reaktiv": Entry(Reaktiv, "one signal, a computed value and an effect for each part", ("reaktiv", "reaktiv")),
    "observ": Entry(Observ, "data changed in place, a watcher for each part", ("observ", "observ")),
    "python-redux": Entry(Redux, "a reducer, an autorun for each part", ("redux", "python-redux")),
}


def absence(label: str) -> str | None:
    """Return why a peer cannot be entered here, or None if it can."""
    needs = PEERS[label].needs
    if needs is None or importlib.util.find_spec(needs[0]) is not None:
        return None
    return f"not installed (pip install {needs[1]})"
