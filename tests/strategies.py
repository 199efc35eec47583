"""Hypothesis strategies for the values that a conversation is made of.

``parts(role)`` and ``messages()`` make any value that the product can hold: every kind of part, every
optional field, nested conversations. Ids are short and collide now and then, on purpose.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from partwise.messages import (
    MISSING,
    Approval,
    ApprovalOption,
    AssistantMessage,
    AssistantMetadata,
    AudioPart,
    CompleteAttachment,
    CompleteStatus,
    Confirm,
    DataPart,
    DocumentSourcePart,
    Feedback,
    FileContent,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    IncompleteStatus,
    Interrupt,
    Message,
    MessageTiming,
    Metadata,
    ReasoningPart,
    RequiresActionStatus,
    RunningStatus,
    Step,
    SystemMessage,
    TextContent,
    TextPart,
    Timing,
    ToolCallPart,
    UrlSourcePart,
    Usage,
    UserMessage,
)

texts = st.text(max_size=8) | st.sampled_from(["", " ", "\ufeff", "\u2028", "a\n\n```py\nb", "🙂", '"\\'])
ids = st.sampled_from(["a", "b", "c", "__proto__", "constructor", ""]) | st.text(
    "0123456789abcXYZ", min_size=1, max_size=7
)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
times = st.datetimes(
    min_value=datetime(1971, 1, 2),
    max_value=datetime(2100, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8))]),
)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def rarely_missing(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.just(MISSING) | strategy


message_statuses = st.one_of(
    st.builds(RunningStatus),
    st.builds(RequiresActionStatus, st.sampled_from(["tool-calls", "interrupt"])),
    st.builds(CompleteStatus, st.sampled_from(["stop", "unknown"])),
    st.builds(
        IncompleteStatus, st.sampled_from(["cancelled", "tool-calls", "length", "content-filter", "other", "error"])
    ),
    st.builds(IncompleteStatus, st.just("error"), json_values),
)
stream_statuses = st.one_of(
    st.builds(RunningStatus),
    st.builds(CompleteStatus, st.none()),
    st.builds(IncompleteStatus, st.sampled_from(["cancelled", "length", "content-filter", "other", "error"])),
)

_common: dict[str, st.SearchStrategy[Any]] = {
    "provider_metadata": maybe(st.dictionaries(texts, json_objects, max_size=2)),
    "parent_id": maybe(ids),
}
text_parts = st.builds(TextPart, texts, status=maybe(stream_statuses), **_common)
reasoning_parts = st.builds(ReasoningPart, texts, summary=maybe(texts), status=maybe(stream_statuses), **_common)
url_sources = st.builds(UrlSourcePart, id=ids, url=texts, title=maybe(texts), **_common)
document_sources = st.builds(
    DocumentSourcePart, id=ids, title=texts, media_type=texts, filename=maybe(texts), **_common
)
image_parts = st.builds(ImagePart, image=texts, filename=maybe(texts), **_common)
file_parts = st.builds(
    FilePart,
    data=texts,
    media_type=texts,
    filename=maybe(texts),
    source_type=st.sampled_from([None, "url", "id"]),
    **_common,
)
audio_parts = st.builds(AudioPart, data=texts, format=st.sampled_from(["mp3", "wav"]))
data_parts = st.builds(DataPart, name=texts, data=json_values, id=maybe(ids), parent_id=maybe(ids))
generative_parts = st.builds(
    GenerativeUIPart, spec=st.fixed_dictionaries({"root": json_values}), id=maybe(ids), parent_id=maybe(ids)
)

approvals = st.builds(
    Approval,
    id=ids,
    approved=maybe(st.booleans()),
    reason=maybe(texts),
    is_automatic=maybe(st.booleans()),
    options=maybe(
        st.lists(
            st.builds(
                ApprovalOption,
                id=ids,
                kind=st.sampled_from(["allow-once", "allow-always", "reject-once", "reject-always", "constructor"]),
                label=maybe(texts),
                description=maybe(texts),
                grants=maybe(st.lists(texts, max_size=2).map(tuple)),
                confirm=st.none() | st.booleans() | st.builds(Confirm, title=maybe(texts), description=maybe(texts)),
            ),
            max_size=2,
        ).map(tuple)
    ),
    option_id=maybe(ids),
    resolution=st.sampled_from([None, "cancelled", "expired"]),
)


def tool_calls(nested: st.SearchStrategy[Message] | None = None) -> st.SearchStrategy[ToolCallPart]:
    return st.builds(
        ToolCallPart,
        tool_call_id=ids,
        tool_name=texts,
        args=json_objects,
        args_text=texts,
        result=rarely_missing(json_values),
        is_error=maybe(st.booleans()),
        artifact=rarely_missing(json_values),
        model_content=maybe(
            st.lists(
                st.builds(TextContent, texts)
                | st.builds(FileContent, data=texts, media_type=texts, filename=maybe(texts)),
                max_size=2,
            ).map(tuple)
        ),
        timing=maybe(st.builds(Timing, started_at=numbers, completed_at=maybe(numbers))),
        mcp=maybe(json_objects),
        interrupt=maybe(st.builds(Interrupt, payload=json_values)),
        approval=maybe(approvals),
        messages=st.none() if nested is None else maybe(st.lists(nested, max_size=2).map(tuple)),
        **_common,
    )


user_parts = st.one_of(text_parts, image_parts, file_parts, audio_parts, data_parts)


def assistant_parts(nested: st.SearchStrategy[Message] | None = None) -> st.SearchStrategy[Any]:
    return st.one_of(
        text_parts,
        reasoning_parts,
        url_sources,
        document_sources,
        image_parts,
        file_parts,
        data_parts,
        generative_parts,
        tool_calls(nested),
    )


def parts(role: str = "assistant") -> st.SearchStrategy[Any]:
    """Parts that a message of ``role`` may hold."""
    return {"assistant": assistant_parts(), "user": user_parts, "system": text_parts}[role]


attachments = st.builds(
    CompleteAttachment,
    id=ids,
    type=st.sampled_from(["image", "document", "file", "own"]),
    name=texts,
    content=st.lists(user_parts, max_size=2).map(tuple),
    content_type=maybe(texts),
    extra=maybe(json_objects),
)
metadatas = st.builds(Metadata, custom=json_objects, is_optimistic=st.booleans())
message_timings = st.builds(
    MessageTiming,
    stream_start_time=numbers,
    first_token_time=maybe(numbers),
    total_stream_time=maybe(numbers),
    token_count=maybe(st.integers(0, 9)),
    tokens_per_second=maybe(numbers),
    total_chunks=st.integers(0, 9),
    tool_call_count=st.integers(0, 9),
)
steps = st.builds(
    Step,
    message_id=maybe(ids),
    usage=maybe(
        st.builds(
            Usage,
            input_tokens=maybe(st.integers(0, 9)),
            output_tokens=maybe(st.integers(0, 9)),
            reasoning_tokens=maybe(st.integers(0, 9)),
            cached_input_tokens=maybe(st.integers(0, 9)),
        )
    ),
)
assistant_metadatas = st.builds(
    AssistantMetadata,
    state=json_values,
    annotations=st.lists(json_values, max_size=2).map(tuple),
    data=st.lists(json_values, max_size=2).map(tuple),
    steps=st.lists(steps, max_size=2).map(tuple),
    custom=json_objects,
    timing=maybe(message_timings),
    submitted_feedback=maybe(st.builds(Feedback, st.sampled_from(["positive", "negative"]))),
    is_optimistic=st.booleans(),
)

user_messages = st.builds(
    UserMessage,
    id=ids,
    created_at=times,
    content=st.lists(user_parts, max_size=3).map(tuple),
    attachments=st.lists(attachments, max_size=2).map(tuple),
    metadata=metadatas,
)
system_messages = st.builds(SystemMessage, id=ids, created_at=times, content=st.tuples(text_parts), metadata=metadatas)


def assistant_messages(nested: st.SearchStrategy[Message] | None = None) -> st.SearchStrategy[AssistantMessage]:
    return st.builds(
        AssistantMessage,
        id=ids,
        created_at=times,
        content=st.lists(assistant_parts(nested), max_size=4).map(tuple),
        status=message_statuses,
        metadata=assistant_metadatas,
    )


_flat_messages: st.SearchStrategy[Message] = st.one_of(user_messages, system_messages, assistant_messages())


def messages() -> st.SearchStrategy[Message]:
    """Messages of every role; tool calls hold conversations of their own, down to the second level."""
    nested = st.one_of(_flat_messages, assistant_messages(_flat_messages))
    return st.one_of(user_messages, system_messages, assistant_messages(nested))
