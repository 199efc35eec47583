"""Do the budgets say what was measured, and what was not?"""

from __future__ import annotations

from bench.__main__ import QUESTIONS, report
from bench._answer import Answer, question_of
from bench._budgets import BUDGETS


def test_a_budget_without_figures_is_not_measured():
    assert {budget.line({})[3] for budget in BUDGETS} == {"?"}


def test_a_budget_is_kept_or_missed():
    figures = {"rx-pipe/10000": 9_000, "partwise/10000": 15, "growth-of-slices/partwise/10000": 1.36}
    lines = {budget.what: budget.line(figures) for budget in BUDGETS}

    kept = lines["a bare Rx pipe per slice takes longer, 10,000 slices"]
    assert kept[2:] == ("600 times", "kept")
    line = lines["a delta among 10,000 slices over 3,334 messages, against 10 over 4"]
    assert line[2:] == ("1.36 times", "kept")
    missed = BUDGETS[0].line({"growth-of-slices/partwise/10000": 2})
    assert missed[2:] == ("2.00 times", "MISSED")


def test_the_report_has_a_line_for_each_budget_and_a_table_for_each_answer():
    answer = Answer(question="Why?", heads=("a", "b"), rows=(("1", "2"),), figures={"noise": 0.02})

    page = report({"why": answer}, {"load": "1.0"})

    assert page.count("| not measured | ? |") == len(BUDGETS)
    assert "### Why?" in page
    assert "noise up to 2% between two entries of partwise" in page


def test_every_file_begins_with_its_question():
    for measure in QUESTIONS.values():
        module = __import__(measure.__module__, fromlist=["measure"])
        assert question_of(module.__doc__).endswith("?")
