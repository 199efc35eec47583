"""A plain chat over text in memory."""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import attrs

from partwise.adapters import RunContext
from partwise.cli._engine import Answering
from partwise.cli._options import ChatOptions
from partwise.cli._plain import LineSource, Output, TextLines
from partwise.cli._rules import folder_tools, rules_model
from partwise.cli._run_plain import talk
from partwise.stream import Chunk
from partwise.tools import Toolkit


@attrs.frozen
class Said:
    out: str
    errors: str
    code: int


async def quick_rules(run: RunContext) -> AsyncGenerator[Chunk, None]:
    async for chunk in rules_model(run, delay=0):
        yield chunk


def rules(root: Path) -> Answering:
    return Answering(model=quick_rules, title="rules", tools=(folder_tools(root),))


def scripted(model: Callable[[RunContext], Any], *tools: Toolkit) -> Answering:
    return Answering(model=model, title="script", tools=tools)


async def chat(
    engine: Answering, *lines: str, source: LineSource | None = None, terminal: bool = False, **options: Any
) -> Said:
    out, errors = io.StringIO(), io.StringIO()
    settings = ChatOptions(is_plain=True, **options)
    code = await talk(settings, engine, source or TextLines(lines), Output(out), errors, is_terminal=terminal)
    return Said(out.getvalue(), errors.getvalue(), code)
