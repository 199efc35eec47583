"""One answer as the Responses API writes it: its items, with the results of its calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from partwise.messages import (
    AssistantMessage,
    FileContent,
    FilePart,
    ImagePart,
    ReasoningPart,
    TextContent,
    TextPart,
    ToolCallPart,
    thaw,
)
from partwise.providers.wire import (
    Json,
    address_of,
    arguments_text,
    as_json,
    is_provider_executed,
    mapping,
    mappings,
    said_by,
    word,
)

from ._responses_items import OUTPUTS, restored
from ._user import detail_of

__all__ = ["file_item", "text_item", "turn_items"]


def turn_items(message: AssistantMessage, *, is_stored: bool, is_last: bool) -> Iterator[dict[str, Any]]:
    """Give the items of an answer.

    Calls that nobody answered are left out, because the API accepts none. If reasoning is sent, so is
    all that the provider made along with it, under its own ids: the API wants each reasoning item
    followed by what came of it.

    Args:
        message: The answer.
        is_stored: Whether the provider keeps what it answered, so that it finds a picture by its id.
        is_last: Whether nothing follows it, so that the provider finds its reasoning by id too.
    """
    knows_ids = is_stored and is_last
    parts = [part for part in message.content if not isinstance(part, ToolCallPart) or _is_settled(part)]
    said = [said_by("openai", getattr(part, "provider_metadata", None)) for part in parts]
    is_whole = any(_can_follow(item, knows_ids=knows_ids) for fields in said for item in _reasoning(fields))
    results: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    for part, fields in zip(parts, said, strict=True):
        before = [item for item in thaw(mappings(fields.get("before"))) if is_whole]
        if results and (before or isinstance(part, (TextPart, ReasoningPart))):
            items += results
            results = []
        items += [item for item in before if item.get("type") != "reasoning" or _can_follow(item, knows_ids=knows_ids)]
        match part:
            case TextPart():
                _add_text(items, part, fields, is_whole=is_whole)
            case ReasoningPart():
                _add_reasoning(items, part, fields, knows_ids=knows_ids)
            case ToolCallPart():
                if not is_provider_executed(part) or (is_whole and fields.get("item")):
                    items.append(_call(part, fields, is_whole=is_whole))
                    if not is_stored and items[-1]["type"] == "image_generation_call":
                        items[-1] |= {"status": "failed", "result": None}  # unless its picture follows
                    results += _result(part, fields)
            case ImagePart() if not is_stored:
                _add_picture(items, part)
            case _:
                continue
    yield from items
    yield from results
    after = thaw(mappings(mapping(message.metadata.custom.get("openai")).get("after")))
    yield from (item for item in after if item.get("type") == "compaction")


def _is_settled(part: ToolCallPart) -> bool:
    return part.has_result or (part.approval is not None and part.approval.approved is True and _is_approval(part))


def _is_approval(part: ToolCallPart) -> bool:
    item = mapping(said_by("openai", part.provider_metadata).get("item"))
    return item.get("type") == "mcp_approval_request"


def _reasoning(fields: Json) -> list[Json]:
    items = (mapping(fields.get("item")), *mappings(fields.get("before")))
    return [item for item in items if item.get("type") == "reasoning"]


def _can_follow(item: Json, *, knows_ids: bool) -> bool:
    return bool(item.get("encrypted_content")) or (knows_ids and bool(item.get("id")))


def _add_text(items: list[dict[str, Any]], part: TextPart, fields: Json, *, is_whole: bool) -> None:
    kept = mapping(fields.get("item"))
    if not part.text:
        return
    if not is_whole or not kept.get("id"):
        phase = {"phase": kept["phase"]} if kept.get("phase") else {}
        items.append({"role": "assistant", "content": part.text, **phase})
        return
    content: dict[str, Any] = {"type": "output_text", "text": part.text, "annotations": []}
    if fields.get("refusal"):
        content = {"type": "refusal", "refusal": part.text}
    if items and items[-1].get("id") == kept["id"]:
        items[-1]["content"].append(content)
    else:
        items.append({**kept, "type": "message", "role": "assistant", "status": "completed", "content": [content]})


def _add_reasoning(items: list[dict[str, Any]], part: ReasoningPart, fields: Json, *, knows_ids: bool) -> None:
    kept = mapping(fields.get("item"))
    if kept.get("type") != "reasoning" or not _can_follow(kept, knows_ids=knows_ids):
        return
    if not items or items[-1].get("id") != kept.get("id"):
        items.append({"summary": []})
    same = items[-1]
    same.update(kept)
    if fields.get("summary"):
        same["summary"] = [*same["summary"], {"type": "summary_text", "text": part.text}]
    else:
        same["content"] = [*same.get("content", ()), {"type": "reasoning_text", "text": part.text}]


def _add_picture(items: list[dict[str, Any]], part: ImagePart) -> None:
    """Put a picture back into the item that was its drawing."""
    drawing = items[-1] if items else {}
    data = address_of(part.image, "image/png").base64
    if drawing.get("type") == "image_generation_call" and data:
        drawing.update(status="completed", result=data)


def _call(part: ToolCallPart, fields: Json, *, is_whole: bool) -> dict[str, Any]:
    rest = mapping(fields.get("item"))
    if not rest.get("type"):
        rest = {"type": "function_call", "call_id": part.tool_call_id}
    item = restored(rest, part.tool_name or "unknown", arguments_text(part), thaw(part.args), thaw(part.result))
    if rest.get("call_id"):
        item["call_id"] = part.tool_call_id
    if not is_whole and item["type"] in ("function_call", "custom_tool_call"):
        item.pop("id", None)
        item.pop("status", None)
    return item


def _result(part: ToolCallPart, fields: Json) -> Iterator[dict[str, Any]]:
    """Give the item that answers a call; calls that the provider ran hold their results themselves."""
    said = mapping(fields.get("output"))
    if said:
        _, field = OUTPUTS[word(said.get("type"))]
        yield {**said, field: thaw(part.result)}
        return
    if fields.get("provider_executed"):
        return
    kind = word(mapping(fields.get("item")).get("type")) or "function_call"
    answer: dict[str, Any] = {"type": f"{kind}_output", "call_id": part.tool_call_id}
    match kind:
        case "mcp_approval_request":
            yield _decision(part)
        case "local_shell_call":
            yield {"type": "local_shell_call_output", "id": part.tool_call_id, "output": _text_of(part)}
        case "shell_call":
            yield {**answer, "output": _shell_output(part)}
        case "apply_patch_call":
            yield {**answer, "status": "failed" if part.is_error else "completed", "output": _text_of(part)}
        case "computer_call":
            yield {**answer, "output": _screenshot(part)}
        case "tool_search_call":
            answer["type"] = "tool_search_output"
            yield {**answer, "execution": "client", "status": "completed", "tools": thaw(part.result)}
        case _:
            yield {**answer, "output": _output(part)}


def _decision(part: ToolCallPart) -> dict[str, Any]:
    approval = part.approval
    approved = approval is not None and approval.approved is True
    reason = {"reason": approval.reason} if approval is not None and approval.reason else {}
    request = approval.id if approval is not None else part.tool_call_id
    return {"type": "mcp_approval_response", "approval_request_id": request, "approve": approved, **reason}


def _output(part: ToolCallPart) -> str | list[dict[str, Any]]:
    if part.model_content is not None:
        return [
            text_item(item.text) if isinstance(item, TextContent) else file_item(item) for item in part.model_content
        ]
    return part.result if isinstance(part.result, str) else as_json(part.result)


def _text_of(part: ToolCallPart) -> str:
    output = _output(part)
    return output if isinstance(output, str) else "\n".join(item.get("text", "") for item in output)


def _shell_output(part: ToolCallPart) -> list[Any]:
    outputs = mappings(thaw(part.result))
    if outputs:
        return [*outputs]
    outcome = {"type": "exit", "exit_code": 1 if part.is_error else 0}
    return [{"stdout": _text_of(part), "stderr": "", "outcome": outcome}]


def _screenshot(part: ToolCallPart) -> dict[str, Any]:
    output = _output(part)
    pictures = [item["image_url"] for item in output if isinstance(item, dict) and item.get("image_url")]
    if pictures:
        return {"type": "computer_screenshot", "image_url": pictures[0]}
    return dict(thaw(mapping(part.result)))


def text_item(text: str) -> dict[str, Any]:
    """Return text that the model reads."""
    return {"type": "input_text", "text": text}


def file_item(file: FilePart | FileContent) -> dict[str, Any]:
    """Return a file that the model reads; a picture is one that it sees."""
    address = address_of(file.data, file.media_type, getattr(file, "source_type", None))
    if address.media_type.startswith("image/"):
        place = {"file_id": address.id} if address.id else {"image_url": address.data_url}
        return {"type": "input_image", **place, "detail": "auto", **detail_of(file)}
    if address.id:
        return {"type": "input_file", "file_id": address.id}
    if address.url:
        return {"type": "input_file", "file_url": address.url}
    return {"type": "input_file", "filename": file.filename or "file", "file_data": address.data_url}
