"""Nothing is started twice."""

from __future__ import annotations

from partwise.tools import Executions


def test_a_call_can_be_claimed_once_per_run() -> None:
    executions = Executions()

    claims = [executions.claim(run, call) for run, call in [("r1", "c1"), ("r1", "c1"), ("r1", "c2"), ("r2", "c1")]]

    assert claims == [True, False, True, True]


def test_the_ledger_tells_what_was_started() -> None:
    executions = Executions()
    executions.claim("r1", "c1")

    assert executions.has_started("r1", "c1")
    assert not executions.has_started("r1", "c2")
    assert not executions.has_started("r2", "c1")


def test_a_settled_run_can_be_forgotten_also_twice() -> None:
    executions = Executions()
    executions.claim("r1", "c1")
    executions.claim("r2", "c1")

    executions.forget("r1")
    executions.forget("r1")

    assert not executions.has_started("r1", "c1")
    assert executions.has_started("r2", "c1")
