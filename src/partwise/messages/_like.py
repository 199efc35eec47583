"""The forgiving constructor: what people and other libraries call a message becomes one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast

from partwise.errors import MessageLikeError

from ._ids import new_id
from ._like_extras import read_assistant_metadata, read_attachments, read_metadata
from ._like_parts import read_parts
from ._like_place import Place, Report, log_issue
from ._messages import AssistantMessage, Message, Metadata, SystemMessage, UserMessage
from ._parts import TextPart
from ._spellings import respell, spelled
from ._statuses import (
    COMPLETE_UNKNOWN,
    CompleteStatus,
    IncompleteStatus,
    MessageStatus,
    RequiresActionStatus,
    RunningStatus,
)
from ._times import read_time

__all__ = ["branches_from_likes", "message_from_like", "messages_from_likes"]

_STATUS_CLASSES: Final = (RunningStatus, RequiresActionStatus, CompleteStatus, IncompleteStatus)
# What a status means that gives no reason.
_USUAL_REASONS: Final = {"complete": "unknown", "incomplete": "other", "requires-action": "tool-calls"}
_MESSAGE_FIELDS: Final = frozenset({"id", "role", "created_at", "content", "status", "attachments", "metadata"})


def message_from_like(
    like: object,
    *,
    fallback_id: str | None = None,
    fallback_status: MessageStatus = COMPLETE_UNKNOWN,
    fallback_time: datetime | None = None,
    report: Report = log_issue,
) -> Message:
    """Make a message of whatever describes one.

    Args:
        like: Text (of a user); a message, which comes back as it is; or a mapping with ``role`` and
            ``content``, and maybe ``id``, ``created_at``, ``status``, ``attachments`` and ``metadata``,
            in our spelling or in JavaScript's. For its content see ``parts_from_like``. Unknown keys of
            the metadata are kept in its ``custom``.
        fallback_id: The id if none is given. Default: a new one.
        fallback_status: The status of an assistant message if none is given.
        fallback_time: When it was made, if that is not given. Default: now.
        report: Told of what had to be left out. Default: log a warning.

    Raises:
        MessageLikeError: It breaks a rule of its role. ``code`` says which: ``unknown-role``,
            ``attachments-role``, ``status-role``, ``steps-role``, ``system-content``, ``content``,
            ``unsupported-part``, ``part``, ``args``, ``attachment``, ``metadata``, ``status``,
            ``created-at``, ``id`` or ``not-a-message``.
    """
    if isinstance(like, (UserMessage, AssistantMessage, SystemMessage)):
        return like
    if isinstance(like, str):
        like = {"role": "user", "content": like}
    if not isinstance(like, Mapping):
        text = f"{type(like).__name__} is no message; give text, a message, or a mapping with role and content."
        raise MessageLikeError(text, code="not-a-message")
    fields = {spelled(key): value for key, value in cast("Mapping[str, Any]", like).items()}
    place = _place(fields, fallback_id, report)
    _check_role(fields, place)
    for name in fields.keys() - _MESSAGE_FIELDS:
        place.tell("unknown-field", f"the unknown field {name!r} is left out; custom metadata can carry it.")
    head: dict[str, Any] = {"id": place.message_id, "created_at": _time(fields, fallback_time, place)}
    match place.role:
        case "assistant":
            return _assistant(head, fields, fallback_status, place)
        case "user":
            return _user(head, fields, place)
        case _:
            return _system(head, fields, place)


def messages_from_likes(
    likes: Iterable[object], *, make_id: Callable[[], str] = new_id, report: Report = log_issue
) -> tuple[Message, ...]:
    """Make a conversation of a list of message-like values; each follows the one before it.

    Raises:
        MessageLikeError: One of them breaks a rule; see ``message_from_like``.
    """
    return tuple(message_from_like(like, fallback_id=make_id(), report=report) for like in likes)


def branches_from_likes(
    items: Iterable[tuple[object, str | None]], *, report: Report = log_issue
) -> tuple[tuple[Message, str | None], ...]:
    """Make the messages of a tree: pairs of a message-like value and the id of its parent, None for a root.

    Raises:
        MessageLikeError: One of them breaks a rule, or has no id by which children could name it
            (code ``id-required``).
    """
    return tuple((_with_id(like, report), parent_id) for like, parent_id in items)


def _with_id(like: object, report: Report) -> Message:
    message_id: object = getattr(like, "id", None)
    if isinstance(like, Mapping):
        like = cast("Mapping[str, object]", like)
        message_id = like.get("id")
    if message_id is None or message_id == "":
        text = "A message of a tree has no id. Give each an id, so that its children can name it as their parent."
        raise MessageLikeError(text, code="id-required")
    return message_from_like(like, report=report)


def _place(fields: Mapping[str, Any], fallback_id: str | None, report: Report) -> Place:
    message_id, role = fields.get("id"), fields.get("role")
    if message_id is None:
        message_id = new_id() if fallback_id is None else fallback_id
    place = Place(role=str(role), message_id=str(message_id), report=report)
    if not isinstance(message_id, str):
        place.fail("id", f"the id is {type(message_id).__name__}; give text.")
    if role not in ("system", "user", "assistant"):
        place.fail("unknown-role", f"the role is {role!r}; use user, assistant or system.")
    return place


def _check_role(fields: Mapping[str, Any], place: Place) -> None:
    if place.role != "user" and fields.get("attachments"):
        place.fail("attachments-role", "only user messages have attachments; give their content as parts.")
    if place.role == "assistant":
        return
    if fields.get("status") is not None:
        place.fail("status-role", "only assistant messages have a status; leave it out.")
    metadata = fields.get("metadata")
    if isinstance(metadata, Mapping) and cast("Mapping[str, Any]", metadata).get("steps") is not None:
        place.fail("steps-role", "only assistant messages have steps; leave them out of the metadata.")


def _time(fields: Mapping[str, Any], fallback_time: datetime | None, place: Place) -> datetime:
    given = fields.get("created_at")
    if given is None:
        return datetime.now(UTC) if fallback_time is None else fallback_time
    try:
        return read_time(given)
    except ValueError as error:
        place.fail("created-at", f"{given!r} {error}.", cause=error)


def _assistant(
    head: dict[str, Any], fields: Mapping[str, Any], fallback_status: MessageStatus, place: Place
) -> AssistantMessage:
    status = fields.get("status")
    if isinstance(status, Mapping):
        given = respell(cast("Mapping[str, Any]", status))
        reason = _USUAL_REASONS.get(str(given.get("type")))
        status = place.read("status", given if reason is None else {"reason": reason, **given}, "status")
    elif status is not None and not isinstance(status, _STATUS_CLASSES):
        place.fail("status", f"{status!r} is no status; give an object with a type.")
    content = read_parts(_with_nested(fields.get("content"), place, head["created_at"]), place)
    metadata = read_assistant_metadata(fields.get("metadata"), place)
    return AssistantMessage(**head, content=content, status=status or fallback_status, metadata=metadata)


def _user(head: dict[str, Any], fields: Mapping[str, Any], place: Place) -> UserMessage:
    attachments = read_attachments(fields.get("attachments"), place)
    content = read_parts(fields.get("content"), place)
    metadata = read_metadata(fields.get("metadata"), place)
    return UserMessage(**head, content=content, attachments=attachments, metadata=metadata)


def _system(head: dict[str, Any], fields: Mapping[str, Any], place: Place) -> SystemMessage:
    content = fields.get("content")
    parts = (content,) if isinstance(content, str) else content
    if not isinstance(parts, (list, tuple)) or [_kind(part) for part in cast("list[object]", parts)] != ["text"]:
        place.fail("system-content", "the content is exactly one text part.")
    metadata = read_metadata(fields.get("metadata"), place)
    return SystemMessage(**head, content=read_parts(content, place), metadata=Metadata(custom=metadata.custom))


def _kind(part: object) -> object:
    if isinstance(part, (str, TextPart)):
        return "text"
    return cast("Mapping[str, object]", part).get("type") if isinstance(part, Mapping) else None


def _with_nested(content: object, place: Place, time: datetime) -> object:
    """Content in which the conversations inside tool calls are messages already."""
    if not isinstance(content, (list, tuple)):
        return content
    return [_with_nested_messages(item, index, place, time) for index, item in enumerate(cast("list[object]", content))]


def _with_nested_messages(item: object, index: int, place: Place, time: datetime) -> object:
    if not isinstance(item, Mapping):
        return item
    part = cast("Mapping[str, Any]", item)
    likes = part.get("messages")
    if part.get("type") != "tool-call" or not isinstance(likes, (list, tuple)):
        return part
    messages = [
        message_from_like(
            like, fallback_id=f"{place.message_id}-{index}-{number}", fallback_time=time, report=place.report
        )
        for number, like in enumerate(cast("list[object]", likes))
    ]
    return {**part, "messages": messages}
