"""The peers on node: the published packages of the reference, and signals."""

from __future__ import annotations

import shutil
from pathlib import Path

from bench.peers._protocol import Entrant

BENCH = Path(__file__).resolve().parents[1]
NODE_PEERS = {
    "assistant-ui-runtime": "@assistant-ui/core",
    "assistant-ui-store": "@assistant-ui/store",
    "preact-signals": "@preact/signals-core",
}


def entrants() -> tuple[list[Entrant], dict[str, str]]:
    """Return the peers that can be entered here, and why the others cannot."""
    node = shutil.which("node")
    if node is None:
        return [], dict.fromkeys(NODE_PEERS, "there is no node here")
    found, absent = [], {}
    for label, package in NODE_PEERS.items():
        if not (BENCH / "node_modules" / package).is_dir():
            absent[label] = "not installed (npm ci --prefix bench)"
            continue
        worker = str(BENCH / "peers" / "node" / "worker.mjs")
        command = (node, "--expose-gc", worker, label)
        found.append(Entrant(label=label, command=command, environment={"NODE_ENV": "production"}))
    return found, absent
