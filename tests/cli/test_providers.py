"""The plain chat with a model of each provider, at a server on this machine."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from partwise.cli._arguments import parse
from partwise.cli._engine import choose
from partwise.cli._options import ChatOptions
from partwise.cli._plain import Output, TextLines
from partwise.cli._run_plain import talk
from tests.providers.serving import serving
from tests.providers.speaking import CHAT, MESSAGES, RESPONSES, Spoken

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the command runs on asyncio


@pytest.mark.parametrize(
    ("provider", "spoken"), [("openai", CHAT), ("openai-responses", RESPONSES), ("anthropic", MESSAGES)]
)
async def test_the_model_of_a_provider_answers_with_the_tools_of_the_folder(
    provider: str, spoken: Spoken, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("1\n2\n3\n", encoding="utf-8")
    first = (*spoken.begin, *spoken.call("c1", "count", '{"path": "a.md"}'), *spoken.end(True))
    out, errors = io.StringIO(), io.StringIO()

    with serving(first, spoken.answer("Three lines.")) as server:
        arguments = ["--provider", provider, "--model", "m", "--base-url", server.base(spoken)]
        options: Any = parse(["chat", "--plain", "--no-history", "--root", str(tmp_path), *arguments], {})
        assert isinstance(options, ChatOptions)
        code = await talk(options, choose(options), TextLines(["how long is a.md"]), Output(out), errors)

    assert (code, errors.getvalue()) == (0, "")
    assert out.getvalue().splitlines() == [
        '[tool] count {"path": "a.md"}',
        '[tool] count -> {"path": "a.md", "lines": 3}',
        "Three lines.",
    ]
    assert "write_file" in spoken.tools(server.requests[0][1])
    assert '"lines": 3' in spoken.results(server.requests[1][1])["c1"]
