"""The programs of the documentation run, and print what it says they print."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_stands_beside_it(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(example)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": ""},
        timeout=60,
    )

    assert done.stderr == ""
    assert done.stdout == example.with_suffix(".txt").read_text(encoding="utf-8")


def test_the_readme_shows_the_first_example_as_it_is() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    for name in ("first_chat.py", "first_chat.txt"):
        assert (ROOT / "docs" / "examples" / name).read_text(encoding="utf-8").strip() in readme


def test_the_page_about_providers_shows_what_the_recording_becomes() -> None:
    page = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")

    assert (ROOT / "docs" / "examples" / "recorded.txt").read_text(encoding="utf-8").strip() in page


@pytest.mark.parametrize("name", ["own_state", "own_process"])
def test_plugging_in_own_state_takes_less_than_sixty_lines(name: str) -> None:
    program = (ROOT / "docs" / "examples" / f"{name}.py").read_text(encoding="utf-8")
    without_the_agent = re.sub(r'^AGENT = """.*?^"""$', "", program, flags=re.DOTALL | re.MULTILINE)

    assert len(without_the_agent.splitlines()) < 60
