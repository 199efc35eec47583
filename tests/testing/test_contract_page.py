"""The test file on the page about testing works as it stands, for somebody who has nothing but the page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from partwise.testing import CONTRACT
from tests.conftest import REPOSITORY

AGENT = """
import anyio
from partwise.messages import message_text

class MyAgent:
    def __init__(self, answer):
        self.answer, self.rows, self.scope, self.tell = answer, [], None, None

    def stop(self):
        self.scope.cancel()

    async def send(self, request):
        question = message_text(request.message)
        self.rows.append({"id": f"q{len(self.rows)}", "role": "user", "content": question})
        said = {"id": f"a{len(self.rows)}", "role": "assistant", "content": ""}
        self.tell(self.rows, is_running=True)
        self.rows.append(said)
        with anyio.CancelScope() as self.scope:
            async for piece in self.answer(question):
                said = {**said, "content": said["content"] + piece}
                self.rows[-1] = said
                self.tell(self.rows, is_running=True)
        if self.scope.cancelled_caught:
            self.rows[-1] = {**said, "status": {"type": "incomplete", "reason": "cancelled"}}
        self.tell(self.rows, is_running=False)
"""


def test_the_file_on_the_page_runs_as_it_stands(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "testing.md").read_text(encoding="utf-8")
    (block,) = (part for part in page.split("```python\n") if "my_agent" in part)
    program = block.split("```")[0]
    (tmp_path / "my_agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "test_mine.py").write_text(program, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(REPOSITORY / "src"), "PATH": ""},
        timeout=120,
    )

    assert f"{2 * len(CONTRACT)} passed" in done.stdout, done.stdout
    assert len(program.splitlines()) < 30
