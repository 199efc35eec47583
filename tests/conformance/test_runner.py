"""The command that runs vectors: what it prints, and with which code it exits."""

import json
from pathlib import Path

import pytest

from ._outcome import Differs, Failed, Passed, differs, failed, first_difference, passed
from ._runner import main, run_vectors

GOOD = {
    "name": "put/good",
    "why": "holds",
    "input": {"ops": [{"op": "put", "id": "a", "parent": None}]},
    "expected": {"steps": [{"head": "a", "path": ["a"], "tree": {"": ["a"]}}]},
}
BAD = {**GOOD, "name": "put/bad", "expected": {"steps": [{"head": "b", "path": ["a"], "tree": {"": ["a"]}}]}}
ON_PURPOSE = {
    "name": "import/on-purpose",
    "why": "the reference keeps half of it",
    "input": {"ops": [{"op": "import", "messages": [{"id": "a", "parent": None}], "headId": "ghost"}]},
    "expected": {"steps": [{"error": "not-found", "head": "a", "path": ["a"], "tree": {"": ["a"]}}]},
}


def write(folder: Path, *vectors: object) -> str:
    file = folder / "some.jsonl"
    file.write_text("".join(json.dumps(vector) + "\n" for vector in vectors), encoding="utf-8")
    return str(file)


def test_vectors_that_hold_or_differ_on_purpose_exit_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repository", write(tmp_path, GOOD, ON_PURPOSE)]) == 0
    printed = capsys.readouterr().out
    assert "import/on-purpose" in printed
    assert "`import-all-or-nothing`" in printed
    assert "2 vectors, 1 passed, 0 failed, 1 differ on purpose" in printed


def test_a_failure_exits_with_1_and_shows_where_and_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repository", write(tmp_path, GOOD, BAD)]) == 1
    printed = capsys.readouterr().out
    assert "FAILED  put/bad" in printed
    assert "steps[0].head" in printed
    assert 'expected "b"' in printed
    assert 'actual   "a"' in printed


def test_only_takes_a_name_or_a_pattern(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, GOOD, BAD, ON_PURPOSE)
    assert main(["repository", file, "--only", "put/good"]) == 0
    assert main(["repository", file, "--only", "put/*"]) == 1
    assert "2 vectors" in capsys.readouterr().out
    assert main(["repository", file, "--only", "nothing"]) == 2


def test_json_output_is_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repository", write(tmp_path, GOOD, BAD, ON_PURPOSE), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["total"], report["passed"], report["failed"], report["differs"]) == (3, 1, 1, 1)
    assert [vector["outcome"] for vector in report["vectors"]] == ["passed", "failed", "differs"]
    assert report["vectors"][1]["where"] == "steps[0].head"
    assert report["vectors"][2]["rows"] == ["import-all-or-nothing"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [(["nonsense", "FILE"], "unknown family 'nonsense'"), (["repository", "missing.jsonl"], "no such file")],
)
def test_a_senseless_request_exits_with_2(
    arguments: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, GOOD)
    assert main([file if argument == "FILE" else argument for argument in arguments]) == 2
    assert text in capsys.readouterr().err


def test_a_line_that_is_no_vector_exits_with_2_and_names_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["repository", write(tmp_path, GOOD, ["no vector"])]) == 2
    assert "some.jsonl:2" in capsys.readouterr().err


def test_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    assert "FAMILY" in capsys.readouterr().out


def test_an_exception_is_a_failure_of_that_vector_only() -> None:
    def run(vector: dict[str, object]) -> Passed:
        if vector["name"] == "put/bad":
            raise RuntimeError("broken")
        return passed()

    outcomes = [result.outcome for result in run_vectors(run, [BAD, GOOD], frozenset())]
    assert isinstance(outcomes[0], Failed)
    assert "broken" in str(outcomes[0].actual)
    assert outcomes[1] == Passed()


def test_a_difference_without_a_row_is_a_failure() -> None:
    outcomes = [result.outcome for result in run_vectors(lambda _: differs("no-row"), [GOOD], frozenset({"row"}))]
    assert isinstance(outcomes[0], Failed)
    outcomes = [result.outcome for result in run_vectors(lambda _: differs("row"), [GOOD], frozenset({"row"}))]
    assert outcomes == [Differs(("row",))]


def test_the_first_difference_tells_absent_from_null_and_true_from_one() -> None:
    assert first_difference({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}) is None
    assert first_difference({"a": None}, {}, "x") == failed(None, "(absent)", "x.a")
    assert first_difference([True], [1], "x") == failed(True, 1, "x[0]")
    assert first_difference([1], [1, 2], "x") == failed([1], [1, 2], "x")
