import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import PartNotFoundError
from partwise.messages import (
    RUNNING,
    AssistantMessage,
    AssistantMetadata,
    TextPart,
    message_text,
    thread_state,
    with_content,
    with_metadata,
    with_part,
    with_status,
)
from tests.strategies import assistant_messages, messages

from ._answers import answer


@given(assistant_messages(), st.data())
def test_replacing_a_part_leaves_everything_else_alone(message: AssistantMessage, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(message.content)))
    part = TextPart("new")
    changed = with_part(message, index, part)

    assert changed.content[index] is part
    assert len(changed.content) == max(len(message.content), index + 1)
    assert all(
        new is old for at, (new, old) in enumerate(zip(changed.content, message.content, strict=False)) if at != index
    )
    assert (changed.id, changed.created_at) == (message.id, message.created_at)
    assert changed.status is message.status
    assert changed.metadata is message.metadata


def test_the_last_part_can_be_named_from_the_end() -> None:
    assert with_part(answer(TextPart("a"), TextPart("b")), -1, TextPart("c")).content == (TextPart("a"), TextPart("c"))
    for index in (3, -3):
        with pytest.raises(PartNotFoundError, match="a1"):
            with_part(answer(TextPart("a"), TextPart("b")), index, TextPart("c"))


def test_content_that_did_not_change_keeps_its_identity() -> None:
    message = answer(TextPart("a"), TextPart("b"))
    grown = with_content(message, [TextPart("a"), TextPart("b!"), TextPart("c")])

    assert grown.content[0] is message.content[0]
    assert [part.text for part in grown.content] == ["a", "b!", "c"]  # type: ignore[union-attr]  # texts
    assert with_content(message, [TextPart("a"), TextPart("b")]).content is message.content


def test_status_and_metadata_are_replaced_alone() -> None:
    message, metadata = answer(TextPart("a")), AssistantMetadata(state=1)

    assert with_status(message, RUNNING).status is RUNNING
    assert with_status(message, RUNNING).content is message.content
    assert with_metadata(message, metadata).metadata is metadata
    assert with_metadata(message, metadata).content is message.content


@given(st.lists(messages(), max_size=3))
def test_the_state_of_a_thread_is_that_of_its_last_answer(thread: list[object]) -> None:
    answers = [message for message in thread if isinstance(message, AssistantMessage)]

    assert thread_state(thread) == (answers[-1].metadata.state if answers else None)  # type: ignore[arg-type]  # messages


def test_copied_text_is_that_of_the_text_parts() -> None:
    assert message_text(answer(TextPart("a"), TextPart(""), TextPart("b"))) == "a\n\n\n\nb"
