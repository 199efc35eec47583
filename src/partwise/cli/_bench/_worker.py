"""One process of the race: builds one peer and does what it is told, line by line in JSON.

The questions are objects with one key: ``build`` (parameters), ``round`` (how many changes), ``count``,
``churn`` (how many), ``memory`` (parameters) and ``close``. Each gets one line in return. A peer on
another platform answers the same questions.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import tracemalloc
from typing import Any

import attrs

from partwise.errors import PartwiseError

from ._peers import PEERS
from ._protocol import Peer, check, check_closed, evaluations_per_change
from ._thread import Parameters

__all__ = ["Worker", "main"]


class Worker:
    """Answers the questions of the race about one peer.

    Args:
        label: The peer.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._peer: Peer = PEERS[label].make()
        self._parameters = Parameters.of(0)
        self._changes = 0

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to one question; an error of the peer is an answer, too."""
        ((name, argument),) = question.items()
        try:
            match name:
                case "build":
                    return self._build(Parameters(**argument))
                case "round":
                    return self._round(argument)
                case "count":
                    return self._count()
                case "churn":
                    return self._churn(argument)
                case "memory":
                    return {"bytes_per_slice": bytes_per_slice(self._label, Parameters(**argument))}
                case _:
                    check_closed(self._peer)
                    return {"closed": True}
        except PartwiseError as error:
            return {"error": str(error)}
        except Exception as error:  # whatever a peer raises is what it is out for
            return {"error": f"{type(error).__name__}: {error}"}

    def _build(self, parameters: Parameters) -> dict[str, Any]:
        self._parameters = parameters
        self._peer.build(parameters)
        self._changes = check(self._peer, parameters)
        gc.collect()
        # How long one change takes, to choose how many make a round.
        return {"version": self._peer.version(), "estimate_us": min(self._timed(3)) / 1_000}

    def _timed(self, times: int) -> list[int]:
        change = self._peer.change
        clock = time.perf_counter_ns
        taken: list[int] = []
        for number in range(self._changes + 1, self._changes + times + 1):
            start = clock()
            change(number)
            taken.append(clock() - start)
        self._changes += times
        return taken

    def _round(self, times: int) -> dict[str, Any]:
        # Seconds of the processor, since what else the machine does is no peer's cost; the worst by the clock.
        start = time.thread_time_ns()
        taken = self._timed(times)
        return {"mean_us": (time.thread_time_ns() - start) / times / 1_000, "worst_us": max(taken) / 1_000}

    def _count(self) -> dict[str, Any]:
        """Count for one change, and hold the total of deliveries against that of changes."""
        expected = self._parameters.expected()
        if self._peer.deliveries() != expected * self._changes:
            return {"error": f"{self._peer.deliveries()} deliveries after {self._changes} changes of {expected}"}
        before = self._peer.deliveries()
        self._changes += 1
        evaluations = evaluations_per_change(self._peer, self._changes)
        return {"evaluations": evaluations, "deliveries": self._peer.deliveries() - before}

    def _churn(self, times: int) -> dict[str, Any]:
        clock = time.thread_time_ns
        start = clock()
        for number in range(times):
            self._peer.churn(number * 7_919)  # far from each other
        return {"mean_us": (clock() - start) / times / 1_000}


def bytes_per_slice(label: str, parameters: Parameters) -> float:
    """Return what one idle slice takes, its function and handles included, its part not."""
    return (_traced(label, parameters) - _traced(label, attrs.evolve(parameters, slices=0))) / parameters.slices


def _traced(label: str, parameters: Parameters) -> int:
    peer = PEERS[label].make()
    gc.collect()
    tracemalloc.start()
    try:
        peer.build(parameters)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        peer.close()


def main() -> int:
    """Answer questions from stdin on stdout until there are no more."""
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(worker.answer(json.loads(line))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
