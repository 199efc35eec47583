"""Drafts: of the next message, and of an edited one."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from partwise.errors import NotAllowedError, NotSentError
from partwise.messages import (
    CompleteAttachment,
    DataPart,
    FilePart,
    ImagePart,
    TextPart,
    ToolCallPart,
    message_text,
)
from partwise.runtimes import ExternalStoreRuntime
from partwise.store import Quote
from partwise.stream import TextDelta
from tests.runtimes.scenes import (
    Log,
    Script,
    answer,
    call,
    chain,
    heard,
    last,
    question,
    settled,
    shown,
    stored,
    talking,
)

FILE = CompleteAttachment(id="f", type="file", name="a.txt", content=(FilePart(data="x", media_type="text/plain"),))


async def test_a_draft_is_sent_as_it_was_typed_and_is_empty_at_once() -> None:
    model = Script([TextDelta("x")])
    async with talking(model) as thread:
        events = heard(thread)
        composer = thread.composer
        composer.set_text("  hi ")
        composer.set_run_config({"k": 1})
        composer.set_quote(Quote(text="said", message_id="m"))
        operation = composer.send()
        assert (composer.state.text, composer.state.quote) == ("", None)
        assert composer.state.run_config == {"k": 1}
        await operation
        sent = thread.state.messages[0]
        assert message_text(sent) == "  hi "
        assert sent.metadata.custom == {"quote": {"text": "said", "message_id": "m"}}
        assert model.calls[0].run_config == {"k": 1}
        assert events == ["initialize", "run_start", "send", "run_end"]


@pytest.mark.parametrize("text", ["", "  \n", "\ufeff"])
async def test_a_blank_draft_is_not_sent(text: str) -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        thread.composer.set_text(text)
        thread.composer.set_quote(Quote(text="said", message_id="m"))
        await thread.composer.send()
        assert shown(thread) == []
        assert thread.composer.state.quote is not None


async def test_a_setter_that_changes_nothing_commits_nothing() -> None:
    async with talking(Script([])) as thread:
        before = thread.state
        thread.composer.set_text("")
        thread.composer.set_role("user")
        assert thread.state is before


async def failing_later() -> None:
    raise OSError("offline")


def failing_at_once() -> Any:
    raise OSError("offline")


@pytest.mark.parametrize("initialize", [failing_later, failing_at_once])
async def test_a_message_that_was_not_sent_is_a_draft_again(initialize: Any) -> None:  # trace 10
    async with talking(Script([TextDelta("x")]), initialize=initialize) as thread:
        thread.composer.set_text("hi")
        thread.composer.set_quote(Quote(text="said", message_id="m"))
        with pytest.raises(NotSentError):
            await thread.composer.send()
        await settled()
        assert shown(thread) == []
        assert (thread.composer.state.text, thread.composer.state.quote.text) == ("hi", "said")


async def test_a_draft_that_comes_back_goes_before_what_was_typed_meanwhile() -> None:  # trace 20
    async with talking(Script([TextDelta("x")]), initialize=failing_later) as thread:
        thread.composer.set_text("hi")
        operation = thread.composer.send()
        thread.composer.set_text("newer")
        with pytest.raises(NotSentError):
            await operation
        await settled()
        assert thread.composer.state.text == "hi\nnewer"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
async def test_drafts_that_come_back_stand_in_the_order_of_their_sending(order: tuple[int, ...]) -> None:
    gates = [anyio.Event() for _ in order]
    waiting = iter(gates)

    async with ExternalStoreRuntime(on_new=lambda request: refuse(next(waiting))) as runtime:
        composer = runtime.thread.composer
        for text in ("one", "two", "three"):
            composer.set_text(text)
            composer.send()
            await settled()
        composer.set_text("now")
        for number in order:
            gates[number].set()
            await settled()
        assert composer.state.text == "one\ntwo\nthree\nnow"


async def refuse(gate: anyio.Event) -> None:
    await gate.wait()
    raise NotSentError("offline")


async def test_a_reset_meanwhile_keeps_the_draft_away() -> None:  # trace 20
    async with talking(Script([TextDelta("x")]), initialize=failing_later) as thread:
        thread.composer.set_text("hi")
        operation = thread.composer.send()
        thread.composer.reset()
        with pytest.raises(NotSentError):
            await operation
        await settled()
        assert thread.composer.state.text == ""


async def test_a_failure_of_the_model_gives_no_draft_back() -> None:
    async with talking(Script([ValueError("model")])) as thread:
        thread.composer.set_text("hi")
        with pytest.raises(ValueError, match="model"):
            await thread.composer.send()
        await settled()
        assert thread.composer.state.text == ""
        assert shown(thread)[0] == "u:hi"


async def test_an_edit_opens_with_the_text_and_closes_when_it_is_sent() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append("hi")
        first = thread.state.messages[0].id
        composer = thread.begin_edit(first)
        assert composer.state.text == "hi"
        assert set(thread.state.edits) == {first}
        with pytest.raises(NotAllowedError) as caught:
            thread.begin_edit(first)
        assert (caught.value.code, caught.value.id) == ("edit-in-progress", first)
        composer.set_text("ho")
        operation = composer.send()
        assert not thread.state.edits
        with pytest.raises(NotAllowedError):
            composer.set_text("too late")
        await operation
        assert shown(thread) == ["u:ho", "a:x"]
        assert thread.branches_of(first)[0] == first


async def test_an_edit_is_sent_even_if_nothing_changed_and_cancelled_without_a_trace() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append("hi")
        first = thread.state.messages[0].id
        thread.begin_edit(first).cancel()
        assert not thread.state.edits
        assert not thread.edit_composer(first).state.is_editing
        await thread.begin_edit(first).send()
        assert len(thread.branches_of(first)) == 2


async def test_an_edit_that_was_not_sent_is_open_again() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append("hi")
        first = thread.state.messages[0].id
        thread.set_options(initialize=failing_later)
        composer = thread.begin_edit(first)
        composer.set_text("ho")
        with pytest.raises(NotSentError):
            await composer.send()
        await settled()
        assert thread.state.edits[first].text == "ho"
        assert shown(thread) == ["u:hi", "a:x"]
        thread.set_options(initialize=None)
        await thread.edit_composer(first).send()
        assert shown(thread) == ["u:ho", "a:x"]


async def test_two_messages_are_edited_side_by_side() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append("one")
        await thread.append("two")
        one, two = thread.begin_edit(thread.state.messages[0].id), thread.begin_edit(thread.state.messages[2].id)
        one.set_text("ONE")
        two.set_text("TWO")
        thread.composer.set_text("three")
        assert [draft.text for draft in thread.state.edits.values()] == ["ONE", "TWO"]
        await two.send()
        assert shown(thread) == ["u:one", "a:x", "u:TWO", "a:x"]
        assert thread.state.edits[one.edited_id].text == "ONE"
        assert thread.composer.state.text == "three"


async def test_the_files_and_images_of_an_edited_message_are_kept() -> None:
    image = ImagePart(image="data:image/png;base64,AA==", filename="shot.png")
    extra = DataPart(name="place", data={"x": 1})
    document = FilePart(data="abc", media_type="text/plain")
    message = {"role": "user", "content": [TextPart("look"), image, document, extra], "attachments": [FILE]}
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append(message)
        composer = thread.begin_edit(thread.state.messages[0].id)
        attachments = composer.state.attachments
        assert attachments[0] == FILE
        assert [(item.type, item.name, item.content) for item in attachments[1:]] == [
            ("image", "shot.png", (image,)),
            ("document", "document", (document,)),
            ("data", "place", (extra,)),
        ]
        assert len({item.id for item in attachments}) == 4
        composer.set_text("look again")
        await composer.send()
        sent = thread.state.messages[0]
        assert message_text(sent) == "look again"
        assert sent.attachments == attachments


async def test_the_other_parts_of_an_edited_answer_are_kept_behind_its_text() -> None:
    model = Script([TextDelta("old"), *call("c0", "human"), TextDelta("more")])
    async with talking(model) as thread:
        await thread.append("hi")
        composer = thread.begin_edit(last(thread).id)
        composer.set_text("new")
        await composer.send()
        assert [type(part) for part in last(thread).content] == [TextPart, ToolCallPart]
        assert shown(thread) == ["u:hi", "a:new"]


async def test_an_edit_keeps_its_quote_and_the_config_of_the_thread() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        thread.composer.set_quote(Quote(text="said", message_id="m"))
        thread.composer.set_text("hi")
        thread.composer.set_run_config({"k": 1})
        await thread.composer.send()
        composer = thread.begin_edit(thread.state.messages[0].id)
        assert composer.state.quote == Quote(text="said", message_id="m")
        assert composer.state.run_config == {"k": 1}


async def test_a_draft_sent_while_the_history_loads_follows_what_was_loaded() -> None:

    history = Log(stored(question("u1"), answer("a1")))
    history.load_gate = anyio.Event()
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        thread.load()
        thread.composer.set_text("hi")
        operation = thread.composer.send()
        history.load_gate.set()
        await operation
        assert shown(thread) == ["u:u1", "a:a1", "u:hi", "a:x"]


async def test_a_keystroke_wakes_only_who_looks_at_the_draft() -> None:  # B108
    async with talking(Script([])) as thread:
        messages = [make(f"{kind}{n}") for n in range(250) for make, kind in ((question, "u"), (answer, "a"))]
        thread.import_(chain(*messages))
        for message in thread.state.messages:
            thread.message(message.id).subscribe(lambda value: None)
            thread.message(message.id).part(0).subscribe(lambda value: None)
        typed: list[str] = []
        thread.select(lambda s: s.composer.text).subscribe(typed.append)
        thread.select(lambda s: s.composer.role).subscribe(lambda value: None)
        store = thread._host.document.store
        before = store.statistics()
        for length in range(1, 21):
            thread.composer.set_text("x" * length)
        after = store.statistics()
        assert len(typed) == 21
        assert after.evaluations - before.evaluations == 20
        assert after.deliveries - before.deliveries == 20
