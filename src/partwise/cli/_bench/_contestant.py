"""A peer in its own process, and the one way of talking to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import attrs

import partwise

from ._thread import Parameters

__all__ = ["Contestant", "Entrant", "python_entrant"]


@attrs.frozen(kw_only=True)
class Entrant:
    """A peer and the command that starts its process.

    Attributes:
        command: The program and its arguments; it answers the questions of the race on stdin and stdout.
        environment: Laid over that of this process.
    """

    label: str
    command: Sequence[str]
    environment: Mapping[str, str] = attrs.field(factory=dict[str, str])


def python_entrant(label: str) -> Entrant:
    """Return the entrant for one of the peers that partwise brings."""
    source = str(Path(partwise.__file__).resolve().parent.parent)
    known = os.environ.get("PYTHONPATH")
    return Entrant(
        label=label,
        command=(sys.executable, "-m", "partwise.cli._bench._worker", label),
        environment={"PYTHONPATH": source + (os.pathsep + known if known else ""), "PYTHONHASHSEED": "0"},
    )


class Contestant:
    """A running process of one peer; used with ``with``.

    Args:
        entrant: Which peer.

    Attributes:
        fault: Why it is out of the race, once it is.
        version: What it measured, once it was built.
    """

    def __init__(self, entrant: Entrant) -> None:
        self.label = entrant.label
        self.fault: str | None = None
        self.version = ""
        self.estimate_us = 0.0
        self._process = subprocess.Popen(
            entrant.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **entrant.environment},
            text=True,
        )

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def build(self, parameters: Parameters) -> None:
        """Have it build its listeners and pass the gate."""
        answer = self.ask(build=attrs.asdict(parameters))
        self.version = str(answer.get("version", self.version))
        self.estimate_us = float(answer.get("estimate_us", 0.0))

    def ask(self, **question: Any) -> dict[str, Any]:
        """Ask one question; a peer that fails is out, and its answers are empty from then on."""
        if self.fault is not None:
            return {}
        answer = self._exchange(question)
        if "error" in answer:
            self.fault = str(answer["error"])
            return {}
        return answer

    def _exchange(self, question: dict[str, Any]) -> dict[str, Any]:
        process = self._process
        if process.stdin is None or process.stdout is None:
            return {"error": "its process has no pipes"}
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:  # it has ended; what it said last tells why
            line = ""
        if line:
            return dict(json.loads(line))
        said: list[str] = process.stderr.read().strip().splitlines() if process.stderr is not None else []
        return {"error": f"its process ended: {said[-1] if said else 'without a word'}"}
