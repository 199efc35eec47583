"""The one protocol that every peer speaks, and the gate that it has to pass.

A peer has ``version()``, ``build(parameters)`` (slices, messages, how many parts change, how deep a slice looks, the
seed), ``change(number)``, ``deliveries()``, ``evaluations()``, ``churn(number)`` and ``close()``. It runs in a process
of its own and is asked over stdin and stdout, one JSON object per line; the peers on node answer the same questions.
"""

from __future__ import annotations

from partwise.cli._bench._contestant import Contestant, Entrant, python_entrant
from partwise.cli._bench._protocol import Peer, check, check_closed, evaluations_per_change
from partwise.cli._bench._race import Heat, Pace, Row, run_heat
from partwise.cli._bench._thread import Depth, Parameters, Thread, reader, thread, with_texts

__all__ = [
    "Contestant",
    "Depth",
    "Entrant",
    "Heat",
    "Pace",
    "Parameters",
    "Peer",
    "Row",
    "Thread",
    "check",
    "check_closed",
    "evaluations_per_change",
    "python_entrant",
    "reader",
    "run_heat",
    "thread",
    "with_texts",
]
