"""Reading message-like content: every way to write a part becomes the part."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import attrs

from ._blank import is_blank
from ._frozen import FrozenDict
from ._json_reader import parse_partial_object
from ._like_place import Place, Report, log_issue
from ._messages import Role
from ._parts import (
    AudioPart,
    DataPart,
    DocumentSourcePart,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
)
from ._spellings import respell
from ._statuses import COMPLETE, RUNNING, IncompleteStatus, MessageStatus

__all__ = ["attachment_parts", "parts_from_like", "read_parts"]

_PART_CLASSES: Final = (
    TextPart,
    ReasoningPart,
    UrlSourcePart,
    DocumentSourcePart,
    ImagePart,
    FilePart,
    AudioPart,
    DataPart,
    GenerativeUIPart,
    ToolCallPart,
)
_ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"text"}),
    "user": frozenset({"text", "image", "file", "audio", "data"}),
    "assistant": frozenset({"text", "reasoning", "source", "image", "file", "data", "generative-ui", "tool-call"}),
}
_DATA_PREFIX: Final = "data-"
_SHOWABLE_IMAGE = re.compile(r"data:image/[^,]*;base64,|https://|blob:", re.IGNORECASE)
_STREAM_REASONS: Final = frozenset({"cancelled", "length", "content-filter", "other", "error"})


def parts_from_like(
    content: object, role: Role, message_id: str, *, keep_blank: bool = False, report: Report = log_issue
) -> tuple[Part, ...]:
    """Read the content of a message.

    Args:
        content: Text, or a sequence of parts: text, part objects, which are kept as they are, or
            mappings in our spelling or in JavaScript's. ``{"type": "data-<name>", "data": ...}`` is a data part.
        role: Whose message it is; an assistant's blank text, and images that are neither ``https:``
            nor ``blob:`` nor base64 data URLs, are left out.
        message_id: The id of the message. A tool call without an id gets one that is made of it and
            of the position of the part, so that the same input always gives the same id.
        keep_blank: Keep an assistant's blank text, for an answer that is still being made.
        report: Told of what was left out. Default: log a warning.

    Raises:
        MessageLikeError: A part cannot be used: its kind is not allowed for the role (code
            ``unsupported-part``), or a field of it is missing or wrong (``part``).
    """
    return read_parts(content, Place(role=role, message_id=message_id, report=report), keep_blank=keep_blank)


def read_parts(content: object, place: Place, *, keep_blank: bool = False) -> tuple[Any, ...]:
    """Read content; see ``parts_from_like``."""
    items = [
        _read_part(item, place.part(index), keep_blank=keep_blank) for index, item in enumerate(_items(content, place))
    ]
    return tuple(item for item in items if item is not None)


def attachment_parts(content: object, place: Place) -> tuple[Any, ...]:
    """Read what a model sees of an attachment; a part of an unknown kind becomes a data part named after it."""
    return tuple(
        _read_part(_as_data(item), place.part(index), keep_blank=True)
        for index, item in enumerate(_items(content, place))
    )


def _items(content: object, place: Place) -> Sequence[object]:
    if isinstance(content, str):
        return (TextPart(content),)
    if not isinstance(content, (list, tuple)):
        place.fail("content", f"content is {type(content).__name__}; give text or a list of parts.")
    return cast("Sequence[object]", content)


def _as_data(item: object) -> object:
    if not isinstance(item, Mapping):
        return item
    like = cast("Mapping[str, Any]", item)
    kind = like.get("type")
    if not isinstance(kind, str) or not kind or kind in _ALLOWED["user"] or kind.startswith(_DATA_PREFIX):
        return like
    return {"type": "data", "name": kind, "data": {key: value for key, value in like.items() if key != "type"}}


def _read_part(item: object, place: Place, *, keep_blank: bool) -> Part | None:
    if isinstance(item, str):
        item = TextPart(item)
    kind = _kind(item, place)
    if kind not in _ALLOWED[place.role]:
        allowed = ", ".join(sorted(_ALLOWED[place.role]))
        place.fail("unsupported-part", f"a part of type {kind!r} cannot be used here; allowed are {allowed}.")
    part = item if isinstance(item, _PART_CLASSES) else _fields(cast("Mapping[str, Any]", item), kind, place)
    if place.role == "assistant" and _is_left_out(part, kind, place, keep_blank=keep_blank):
        return None
    if isinstance(part, dict):
        read: Part = place.read("assistant" if place.role == "assistant" else "user", part, "part")
        return read
    return _agreeing(part, place) if isinstance(part, ToolCallPart) else part


def _kind(item: object, place: Place) -> str:
    if isinstance(item, _PART_CLASSES):
        return item.type
    if not isinstance(item, Mapping):
        place.fail("part", f"{type(item).__name__} is no part; give a part object or a mapping with a type.")
    kind = cast("Mapping[str, object]", item).get("type")
    return "data" if isinstance(kind, str) and kind.startswith(_DATA_PREFIX) else str(kind)


def _fields(like: Mapping[str, Any], kind: str, place: Place) -> dict[str, Any]:
    fields = respell(like)
    match kind:
        case "data" if like["type"] != kind:
            fields.update(type=kind, name=like["type"].removeprefix(_DATA_PREFIX))
            fields.setdefault("data", None)
        case "text" | "reasoning" if "status" in fields:
            fields["status"] = _stream_status(fields["status"])
        case "audio" if isinstance(fields.get("audio"), Mapping):
            fields.update(fields.pop("audio"))
        case "tool-call":
            _fill_tool_call(fields, place)
        case _:
            pass
    return fields


def _stream_status(given: object) -> MessageStatus | None:
    """What a source says of one part, as far as it can be understood; what cannot be is as if it were not said."""
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, object]", given)
        kind, reason, error = fields.get("type"), fields.get("reason"), fields.get("error")
    else:
        kind, reason, error = (getattr(given, name, None) for name in ("type", "reason", "error"))
    if kind == "running":
        return RUNNING
    if kind == "complete":
        return COMPLETE
    if kind != "incomplete":
        return None
    return IncompleteStatus(cast("Any", reason) if reason in _STREAM_REASONS else "other", error)


def _is_left_out(part: Part | dict[str, Any], kind: str, place: Place, *, keep_blank: bool) -> bool:
    def field(name: str) -> Any:
        return part.get(name) if isinstance(part, dict) else getattr(part, name)

    if kind == "text":
        return field("text") is None or (_is_blank(field("text")) and not keep_blank)
    if kind == "reasoning":
        return _is_blank(field("text")) and _is_blank(field("summary")) and not keep_blank
    if kind != "image":
        return False
    image = field("image")
    if isinstance(image, str) and _SHOWABLE_IMAGE.match(image) is None:
        advice = "give an https: or blob: URL or a base64 data URL"
        place.tell("image", f"the image {image[:60]!r} is left out; {advice}.")
    return not isinstance(image, str) or _SHOWABLE_IMAGE.match(image) is None


def _is_blank(text: object) -> bool:
    return text is None or (isinstance(text, str) and is_blank(text))


def _fill_tool_call(fields: dict[str, Any], place: Place) -> None:
    fields.setdefault("tool_call_id", f"tool-{place.message_id}-{place.part_index}")
    if "args" in fields:
        if "args_text" not in fields:
            fields["args_text"] = _args_text(fields["args"], place)
    else:
        text = fields.setdefault("args_text", "")
        fields["args"] = _parsed(text) if isinstance(text, str) else {}


def _agreeing(part: ToolCallPart, place: Place) -> ToolCallPart:
    """A tool call whose arguments were given in one form only gets the other one too."""
    if part.args and not part.args_text:
        return attrs.evolve(part, args_text=_args_text(part.args, place))
    if part.args_text and not part.args:
        parsed = _parsed(part.args_text)
        return attrs.evolve(part, args=parsed) if parsed else part
    return part


def _parsed(text: str) -> FrozenDict:
    parsed = parse_partial_object(text)
    return FrozenDict() if parsed is None else parsed


def _args_text(args: object, place: Place) -> str:
    try:
        return json.dumps(args, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        place.fail("args", f"the arguments of the tool call are no JSON: {error}.", cause=error)
