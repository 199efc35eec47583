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


each_provider = pytest.mark.parametrize(
    ("provider", "spoken"), [("openai", CHAT), ("openai-responses", RESPONSES), ("anthropic", MESSAGES)]
)
KEYS = {"OPENAI_API_KEY": "key-of-the-provider", "ANTHROPIC_API_KEY": "key-of-the-provider", "OTHER": "other-key"}


async def said(text: str, *arguments: str) -> tuple[int, str]:
    """What the plain chat prints for a prompt, and its exit code."""
    out, errors = io.StringIO(), io.StringIO()
    options: Any = parse(["chat", "--plain", "--no-history", *arguments], KEYS)
    assert isinstance(options, ChatOptions)
    code = await talk(options, choose(options), TextLines([text]), Output(out), errors)
    assert errors.getvalue() == ""
    return code, out.getvalue()


@each_provider
async def test_the_model_of_a_provider_answers_with_the_tools_of_the_folder(
    provider: str, spoken: Spoken, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("1\n2\n3\n", encoding="utf-8")
    first = (*spoken.begin, *spoken.call("c1", "count", '{"path": "a.md"}'), *spoken.end(True))

    with serving(first, spoken.answer("Three lines.")) as server:
        arguments = ["--provider", provider, "--model", "m", "--base-url", server.base(spoken), "--root", str(tmp_path)]
        code, printed = await said("how long is a.md", *arguments)

    assert code == 0
    assert printed.splitlines() == [
        '[tool] count {"path": "a.md"}',
        '[tool] count -> {"path": "a.md", "lines": 3}',
        "Three lines.",
    ]
    assert "write_file" in spoken.tools(server.requests[0][1])
    assert '"lines": 3' in spoken.results(server.requests[1][1])["c1"]


@each_provider
async def test_another_endpoint_is_not_shown_the_key_of_the_provider(
    provider: str, spoken: Spoken, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with serving(spoken.answer("Hello."), spoken.answer("Hello.")) as server:
        arguments = ["--provider", provider, "--model", "m", "--base-url", server.base(spoken)]
        assert await said("hi", *arguments) == (0, "Hello.\n")
        assert await said("hi", *arguments, "--api-key-env", "OTHER") == (0, "Hello.\n")

    without, named = map(str, server.headers)
    assert "key-of-the-provider" not in without + named
    assert "other-key" not in without
    assert "other-key" in named


@each_provider
async def test_an_endpoint_that_wants_a_key_is_said_how_to_get_one(provider: str, spoken: Spoken) -> None:
    with serving(spoken.answer("Hello."), key="other-key") as server:
        url = server.base(spoken)
        arguments = ["--provider", provider, "--model", "m", "--base-url", url]
        without = await said("hi", *arguments)
        wrong = await said("hi", *arguments, "--api-key-env", "OPENAI_API_KEY")
        right = await said("hi", *arguments, "--api-key-env", "OTHER")

    advice = f"{url} wants a key, and was sent none: name the variable that holds it with --api-key-env VARIABLE."
    assert without == (1, f"[error: {advice} The answer was: Who are you?]\n")
    assert wrong == (1, f"[error: {url} does not accept the key in OPENAI_API_KEY. The answer was: Who are you?]\n")
    assert right == (0, "Hello.\n")


async def test_an_error_that_is_not_about_the_key_is_told_as_it_is() -> None:
    with serving((CHAT.error("overloaded", "Come back later."),)) as server:
        failed = await said("hi", "--provider", "openai", "--model", "m", "--base-url", server.base(CHAT))

    assert failed == (1, "[error: Come back later.]\n")
