"""Which calls run, which are asked about, and what the model hears of the refused ones."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import attrs
import pytest

from partwise.messages import (
    MISSING,
    Approval,
    ApprovalOption,
    AssistantMessage,
    Interrupt,
    TextContent,
    TextPart,
    Timing,
    ToolCallPart,
)
from partwise.tools import (
    Tool,
    Toolkit,
    ToolResponse,
    calls_needing_approval,
    calls_to_run,
    plan_calls,
    refusal,
    with_approval_request,
    with_response,
)

OPTIONS = (ApprovalOption(id="once", kind="allow-once"), ApprovalOption(id="no", kind="reject-once"))


def kit() -> dict[str, Tool]:
    tools = Toolkit()

    @tools.frontend
    def free(n: int = 0) -> None: ...

    @tools.frontend(needs_approval=True, approval_options=OPTIONS)
    def gated(n: int = 0) -> None: ...

    @tools.frontend(needs_approval=lambda args: args.get("n", 0) > 5)
    def depends(n: int = 0) -> None: ...

    @tools.frontend(needs_approval=True, disabled=True)
    def disabled() -> None: ...

    @tools.human
    def asked() -> None: ...

    @tools.backend
    def elsewhere() -> None: ...

    return {tool.name: tool for tool in tools}


def call(name: str, id: str = "", text: str = "", **more: Any) -> ToolCallPart:
    return ToolCallPart(tool_call_id=id or name, tool_name=name, args_text=text, **more)


def message(*parts: Any) -> AssistantMessage:
    return AssistantMessage(id="a1", content=parts, created_at=datetime(2026, 1, 2, tzinfo=UTC))


def ids(parts: Any) -> list[str]:
    return [part.tool_call_id for part in parts]


def test_only_open_calls_of_frontend_tools_run() -> None:
    parts = [
        TextPart("hi"),
        call("free"),
        call("free", "done", result=None),
        call("asked"),
        call("elsewhere"),
        call("x"),
    ]

    assert ids(calls_to_run(message(*parts), kit())) == ["free"]


@pytest.mark.parametrize("result", [None, False, 0, ""])
def test_any_result_settles_a_call(result: Any) -> None:
    assert calls_to_run(message(call("free", result=result)), kit()) == ()


def test_a_call_id_runs_once_also_if_it_appears_twice() -> None:
    first, second = call("free", "1", '{"n": 1}'), call("free", "1", '{"n": 2}')

    assert calls_to_run(message(first, second), kit()) == (first,)


@pytest.mark.parametrize(
    ("approval", "runs"),
    [
        (None, False),
        (Approval(id="p"), False),
        (Approval(id="p", approved=True), True),
        (Approval(id="p", approved=False), False),
        (Approval(id="p", resolution="expired"), False),
        (Approval(id="p", resolution="cancelled"), False),
        (Approval(id="p", approved=True, resolution="cancelled"), False),
    ],
)
def test_a_gated_call_runs_only_when_it_was_approved(approval: Approval | None, runs: bool) -> None:
    assert bool(calls_to_run(message(call("gated", approval=approval)), kit())) is runs


def test_an_approval_that_the_model_asked_for_gates_a_free_tool_too() -> None:
    assert calls_to_run(message(call("free", approval=Approval(id="p"))), kit()) == ()


def test_a_call_whose_tool_decides_by_the_arguments_runs_only_when_cleared() -> None:
    asked = message(call("depends"))

    assert calls_to_run(asked, kit()) == ()
    assert ids(calls_to_run(asked, kit(), cleared={"depends"})) == ["depends"]


async def test_calls_that_somebody_must_permit_are_found() -> None:
    parts = [
        call("free"),
        call("gated"),
        call("gated", "asked already", approval=Approval(id="p")),
        call("gated", "settled", result=1),
        call("depends", "small", '{"n": 5}'),
        call("depends", "big", '{"n": 6}'),
        call("disabled"),
        call("asked"),
    ]

    assert ids(await calls_needing_approval(message(*parts), kit())) == ["gated", "big"]


async def test_nobody_is_asked_about_a_call_that_will_not_run() -> None:
    parts = [call("gated", "1", '{"n": "x"}'), call("gated", "2", '{"n": 1'), call("depends", "3", '{"n": 7, "m": 1}')]

    plan = await plan_calls(message(*parts), kit())

    assert (plan.to_ask, ids(plan.to_run)) == ((), ["1", "2", "3"])


async def test_a_predicate_may_be_async() -> None:
    async def big(args: Any) -> bool:
        return args["n"] > 5

    tools = {"depends": attrs.evolve(kit()["depends"], needs_approval=big)}

    asked = await calls_needing_approval(message(call("depends", text='{"n": 9}')), tools)

    assert ids(asked) == ["depends"]


async def test_a_predicate_that_raises_counts_as_yes() -> None:
    reported: list[Exception] = []
    tools = {"depends": attrs.evolve(kit()["depends"], needs_approval=lambda args: args["missing"])}

    asked = await calls_needing_approval(message(call("depends")), tools, report=reported.append)

    assert ids(asked) == ["depends"]
    assert [type(failure) for failure in reported] == [KeyError]


async def test_a_validator_that_breaks_does_not_open_the_gate() -> None:
    def validate(args: Any) -> Any:
        raise ZeroDivisionError

    reported: list[Exception] = []
    tools = {"gated": attrs.evolve(kit()["gated"], validate=validate)}

    assert ids(await calls_needing_approval(message(call("gated")), tools, report=reported.append)) == ["gated"]
    assert len(reported) == 1


async def test_a_plan_sorts_every_open_call() -> None:
    parts = [
        call("free"),
        call("gated"),
        call("gated", "yes", approval=Approval(id="p1", approved=True)),
        call("gated", "no", approval=Approval(id="p2", approved=False)),
        call("depends", "small", '{"n": 1}'),
        call("depends", "big", '{"n": 9}'),
        call("elsewhere", "late", approval=Approval(id="p3", resolution="expired")),
        call("asked"),
    ]

    plan = await plan_calls(message(*parts), kit())

    assert ids(plan.to_run) == ["free", "yes", "small"]
    assert ids(plan.to_ask) == ["gated", "big"]
    assert [part.tool_call_id for part, _ in plan.refused] == ["no", "late"]


@pytest.mark.parametrize(
    ("approval", "told"),
    [
        (Approval(id="p", approved=False), "Tool approval denied"),
        (Approval(id="p", approved=False, reason=""), "Tool approval denied"),
        (Approval(id="p", approved=False, reason="Not today."), "Not today."),
        (Approval(id="p", resolution="expired"), "Tool approval expired"),
        (Approval(id="p", resolution="cancelled"), "Tool approval cancelled"),
    ],
)
def test_the_model_hears_of_a_refusal(approval: Approval, told: str) -> None:
    refused = refusal(call("gated", approval=approval))

    assert refused == ToolResponse({"error": told}, is_error=True)


@pytest.mark.parametrize(
    "part",
    [
        call("gated"),
        call("gated", approval=Approval(id="p")),
        call("gated", approval=Approval(id="p", approved=True)),
        call("gated", approval=Approval(id="p", approved=False), result=1),
    ],
)
def test_an_open_an_approved_and_a_settled_call_are_not_refused(part: ToolCallPart) -> None:
    assert refusal(part) is None


def test_a_question_offers_the_options_of_the_tool_and_has_an_id_of_its_own() -> None:
    tools = kit()
    first, second = (with_approval_request(call("gated"), tools["gated"]) for _ in range(2))
    plain = with_approval_request(call("free"), tools["free"], approval_id="p1")

    assert first.approval is not None
    assert second.approval is not None
    assert (first.approval.is_open, first.approval.options) == (True, OPTIONS)
    assert first.approval.id != second.approval.id
    assert plain.approval == Approval(id="p1")


def test_a_call_is_asked_about_once_and_not_after_its_result() -> None:
    tools = kit()
    asked = with_approval_request(call("gated"), tools["gated"])
    settled = call("gated", result=None)

    assert with_approval_request(asked, tools["gated"]) is asked
    assert with_approval_request(settled, tools["gated"]) is settled


def test_a_response_settles_its_call() -> None:
    timing = Timing(started_at=1, completed_at=2)
    response = ToolResponse(None, artifact=1, is_error=True, model_content="x", messages=[], timing=timing)

    settled = with_response(
        call("free", text="{}", interrupt=Interrupt(payload=1), approval=Approval(id="p")), response
    )

    assert (settled.has_result, settled.result, settled.artifact, settled.is_error) == (True, None, 1, True)
    assert (settled.model_content, settled.messages, settled.timing) == ((TextContent("x"),), (), timing)
    assert (settled.interrupt, settled.approval, settled.args_text) == (None, Approval(id="p"), "{}")


def test_a_bare_response_keeps_what_the_call_had() -> None:
    timing = Timing(started_at=1)

    settled = with_response(call("free", messages=(), timing=timing), ToolResponse(1))

    assert (settled.messages, settled.timing, settled.artifact, settled.is_error) == ((), timing, MISSING, False)


def test_a_response_without_a_result_still_settles_its_call() -> None:
    assert with_response(call("free"), ToolResponse()).has_result
