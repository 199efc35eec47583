"""The race as a command: its rows, its gate, and what it says about those it leaves out."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET

import attrs
import pytest

from partwise.cli import main
from partwise.cli._bench._chart import bars, svg
from partwise.cli._bench._contestant import Contestant, Entrant, python_entrant
from partwise.cli._bench._options import ALWAYS
from partwise.cli._bench._peers import PEERS, absence
from partwise.cli._bench._progress import Progress
from partwise.cli._bench._protocol import check, check_closed, evaluations_per_change
from partwise.cli._bench._race import Pace, Row, run_heat
from partwise.cli._bench._report import table
from partwise.cli._bench._thread import Parameters, thread, with_texts
from partwise.cli._bench._worker import Worker
from partwise.errors import InvalidInputError

FIELDS = {
    "peer",
    "slices",
    "messages",
    "median_us",
    "worst_us",
    "ratio_to_floor",
    "evaluations",
    "deliveries",
    "bytes_per_slice",
}
ROW = Row(
    peer="partwise",
    slices=10,
    messages=4,
    median_us=9.5,
    min_us=9,
    worst_us=40,
    ratio_to_floor=3,
    evaluations=1,
    deliveries=1,
    bytes_per_slice=1500,
    changes=100,
)


def test_the_fanout_is_printed_as_json(capsys):
    code = main(["bench", "fanout", "--sizes", "10,30", "--rounds", "2", "--peers", "none", "--json", "--quiet"])
    captured = capsys.readouterr()
    result = json.loads(captured.out)

    assert code == 0
    assert captured.err == ""
    assert set(result) >= {"rows", "noise", "versions"}
    assert [(row["slices"], row["peer"]) for row in result["rows"]] == [
        (size, label) for size in (10, 30) for label in ALWAYS
    ]
    assert all(set(row) >= FIELDS for row in result["rows"])
    counts = {(row["peer"], row["slices"]): (row["evaluations"], row["deliveries"]) for row in result["rows"]}
    assert counts["partwise", 30] == counts["partwise-address", 30] == (1, 1)
    assert counts["rx-pipe", 30] == (30, 1)
    assert result["noise"] >= 0
    assert {"partwise", "python", "reactivex"} <= set(result["versions"])


def test_the_fanout_is_drawn_as_a_table_and_as_svg(capsys, tmp_path):
    chart = tmp_path / "fanout.svg"

    code = main(["bench", "fanout", "--sizes", "10,100", "--rounds", "1", "--peers", "none", "--svg", str(chart)])
    captured = capsys.readouterr()

    assert code == 0
    assert "| partwise-address |" in captured.out
    assert "noise: " in captured.out
    assert "100%" in captured.err
    assert ET.fromstring(chart.read_text(encoding="utf-8")).tag.endswith("svg")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sizes", "0"], "'0' is not a whole number"),
        (["--sizes", ","], "at least one size"),
        (["--peers", "mobx"], "there is no peer 'mobx'"),
        (["--svg", "/no/such/folder/x.svg"], "is not a folder"),
    ],
)
def test_a_wrong_command_line_is_refused_in_one_line(capsys, arguments, said):
    with pytest.raises(SystemExit) as left:
        main(["bench", "fanout", *arguments])

    assert left.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("depth", ["message", "part", "text", "argument"])
@pytest.mark.parametrize("changed", [1, 7])
@pytest.mark.parametrize("label", ALWAYS)
def test_a_peer_delivers_to_those_concerned_and_to_nobody_after_its_end(label, changed, depth):
    parameters = Parameters.of(99, changed=changed, depth=depth)
    peer = PEERS[label].make()
    peer.build(parameters)

    check(peer, parameters)
    evaluations = evaluations_per_change(peer, 99)
    peer.churn(5)
    check_closed(peer)

    assert evaluations == (99 if label == "rx-pipe" else parameters.expected())


@pytest.mark.parametrize("label", [label for label in PEERS if PEERS[label].needs is not None])
def test_an_installed_peer_passes_the_gate(label):
    if absence(label) is not None:
        return
    parameters = Parameters.of(30)
    peer = PEERS[label].make()
    peer.build(parameters)

    check(peer, parameters)
    peer.churn(3)
    check_closed(peer)

    assert peer.version()


def test_the_gate_stops_a_peer_that_is_silent():
    parameters = Parameters.of(9)
    peer = PEERS["partwise"].make()
    peer.build(parameters)
    peer.close()

    with pytest.raises(InvalidInputError, match="delivered 0 values after 1 changes, where 1 are right"):
        check(peer, parameters)


def test_a_process_that_ends_is_out_with_what_it_said_last():
    silent = Entrant(label="broken", command=("/bin/sh", "-c", "echo oh no >&2; exit 3"))

    heat = run_heat(
        Parameters.of(3), [python_entrant("floor"), silent], Pace(rounds=1, memory_slices=0), lambda text: None
    )

    assert heat.out == {"broken": "its process ended: oh no"}
    assert [row.peer for row in heat.rows] == ["floor"]
    assert heat.noise is None


def test_a_peer_that_is_too_slow_is_out_and_said_to_be():
    heat = run_heat(
        Parameters.of(3), [python_entrant("floor")], Pace(rounds=1, limit_us=0, memory_slices=0), lambda text: None
    )

    assert heat.rows == ()
    assert "too long" in heat.out["floor"]


def test_a_worker_answers_errors_instead_of_ending():
    worker = Worker("partwise")

    assert worker.answer({"build": attrs.asdict(Parameters.of(9))})["version"]
    assert worker.answer({"round": 5})["worst_us"] > 0
    assert worker.answer({"count": None}) == {"evaluations": 1, "deliveries": 1}
    assert worker.answer({"churn": 3})["mean_us"] > 0
    assert worker.answer({"memory": attrs.asdict(Parameters.of(30))})["bytes_per_slice"] > 0
    assert worker.answer({"close": None}) == {"closed": True}
    assert "TypeError" in worker.answer({"round": "many"})["error"]


def test_a_contestant_that_failed_is_not_asked_again():
    with Contestant(python_entrant("floor")) as contestant:
        contestant.ask(round="many")
        assert contestant.fault is not None
        assert contestant.ask(count=None) == {}


def test_a_change_shares_everything_that_it_does_not_change():
    before = thread(4)

    after = with_texts(before, [(2, 1)], "new")

    assert after.messages[2].content[1].text == "new"
    assert after.messages[2].content[0] is before.messages[2].content[0]
    assert all(after.messages[number] is before.messages[number] for number in (0, 1, 3))


def test_parts_that_change_are_chosen_by_the_seed_alone():
    one, other = (Parameters.of(300, changed=30).targets() for _ in range(2))

    assert one == other
    assert len(set(one)) == 30
    assert Parameters.of(300).targets() == ((99, 2),)


def test_rows_are_drawn():
    rows = [ROW, attrs.evolve(ROW, peer="rx-pipe", median_us=900, evaluations=None, bytes_per_slice=None)]

    assert "|     10 |        4 | rx-pipe  |" in table(rows)
    assert bars(rows).count("█") > 10
    assert bars([]) == ""
    assert "rx-pipe</text>" in svg(rows, "a < b")


def test_progress_is_a_bar_only_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen, pipe, nothing = Terminal(), io.StringIO(), Terminal()
    for stream, is_quiet in ((screen, False), (pipe, False), (nothing, True)):
        progress = Progress(1, is_quiet=is_quiet, stream=stream)
        progress.step("counting")
        progress.end()

    assert "█" in screen.getvalue()
    assert pipe.getvalue().endswith("counting\n")
    assert "\r" not in pipe.getvalue()
    assert nothing.getvalue() == ""
