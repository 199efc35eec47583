"""From the result of a tool to a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from partwise.messages import ToolCallPart

__all__ = ["answer", "joined"]

_MOST_SHOWN = 6_000
_Result: TypeAlias = Mapping[str, Any]


def answer(part: ToolCallPart) -> str:
    """Say what came of a call: its result, its failure, or that somebody said no."""
    approval = part.approval
    if approval is not None and approval.approved is False:
        reason = f" You said: {approval.reason}" if approval.reason else ""
        return f"You said no, so I left `{part.args.get('path', part.tool_name)}` as it was.{reason}"
    if approval is not None and approval.resolution is not None:
        return f"Nobody answered my question about `{part.args.get('path', part.tool_name)}`, so I left it as it was."
    if not part.has_result:
        return f"I got no result from `{part.tool_name}`."
    raw: object = part.result
    result = _fields(raw)
    if part.is_error:
        return f"That did not work: {result.get('error', raw)}"
    say = _SENTENCES.get(part.tool_name)
    try:
        return str(raw) if say is None else say(part, result)
    except (KeyError, TypeError, ValueError):
        # The tools may be somebody else's, of the same names.
        return f"`{part.tool_name}` answered: {raw}"


def _fields(result: object) -> _Result:
    return cast("_Result", result) if isinstance(result, Mapping) else {}


def joined(answers: Sequence[str]) -> str:
    """Put several answers together: short ones as a list, long ones one below the other."""
    if len(answers) > 1 and all("\n" not in one for one in answers):
        return "\n".join(f"- {one}" for one in answers)
    return "\n\n".join(answers)


def _counted(part: ToolCallPart, result: _Result) -> str:
    numbers = [
        _number(result[unit], unit.removesuffix("s")) for unit in ("lines", "words", "characters") if unit in result
    ]
    text = f"{', '.join(numbers[:-1])} and {numbers[-1]}" if len(numbers) > 1 else numbers[0]
    return f"`{result['path']}` has {text}."


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _read(part: ToolCallPart, result: _Result) -> str:
    path, text = str(result["path"]), str(result["text"])
    if not text.strip():
        return f"`{path}` is empty."
    shown, rest = text[:_MOST_SHOWN], text[_MOST_SHOWN:]
    if rest:
        # Whole lines only, unless the first one is longer than all that is shown.
        cut = shown.rfind("\n") + 1 or len(shown)
        shown, rest = text[:cut], text[cut:]
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    ending = path.rpartition(".")[2] if "." in path else ""
    language = ending if ending.isalnum() else ""
    more = f"\n\nThat is the beginning; {_number(len(rest), 'character')} more follow." if rest else ""
    return f"This is `{path}`:\n\n{fence}{language}\n{shown.rstrip(chr(10))}\n{fence}{more}"


def _listed(part: ToolCallPart, result: _Result) -> str:
    place = "this folder" if result["path"] in {".", ""} else f"`{result['path']}`"
    entries = cast("Sequence[_Result]", result["entries"])
    pattern = part.args.get("pattern")
    if not entries:
        nothing = f"No file named `{pattern}` is in {place}" if pattern else f"There is nothing in {place}"
        return f"{nothing}{_aside(result)}."
    lines = [f"- `{entry['name']}`{_size(entry.get('size'))}" for entry in entries]
    lines += [f"- … and {result['more']} more"] if result["more"] else []
    return f"In {place}{_aside(result)}:\n\n" + "\n".join(lines)


def _size(size: int | None) -> str:
    return "" if size is None else f" ({_number(size, 'byte')})"


def _aside(result: _Result) -> str:
    notes = [f"{_number(result['hidden'], 'hidden or generated item')} left out"] if result["hidden"] else []
    notes += [_number(result["unreadable"], "unreadable file") + " skipped"] if result.get("unreadable") else []
    notes += [str(result["note"])] if "note" in result else []
    return f" ({', '.join(notes)})" if notes else ""


def _found(part: ToolCallPart, result: _Result) -> str:
    matches = cast("Sequence[_Result]", result["matches"])
    searched = _number(result["files_searched"], "file")
    if not matches:
        return f"I found no “{result['text']}” in {searched}{_aside(result)}."
    total = len(matches) + result["more"]
    lines = [f"- `{match['path']}:{match['line']}` {match['text']}" for match in matches]
    lines += [f"- … and {result['more']} more"] if result["more"] else []
    heading = f"I found “{result['text']}” in {_number(total, 'line')} of {searched}{_aside(result)}:"
    return heading + "\n\n" + "\n".join(lines)


def _worked_out(part: ToolCallPart, result: _Result) -> str:
    about = f", about {result['about']}" if "about" in result else ""
    return f"{result['expression']} = {result['value']}{about}"


def _written(part: ToolCallPart, result: _Result) -> str:
    size = _number(result["bytes"], "byte")
    match result["action"]:
        case "created":
            return f"I created `{result['path']}` ({size})."
        case "extended":
            return f"I added {size} to the end of `{result['path']}`."
        case _:
            return f"I replaced the content of `{result['path']}` ({size})."


_SENTENCES: Mapping[str, Callable[[ToolCallPart, _Result], str]] = {
    "count": _counted,
    "read_file": _read,
    "list_files": _listed,
    "search_files": _found,
    "calculate": _worked_out,
    "write_file": _written,
}
