"""What a thread of any runtime does: checks that take a source and raise where it does something else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias

import anyio
import attrs

from partwise.errors import MessageNotFoundError, RuntimeClosedError, UnsupportedError
from partwise.runtimes import CAPABILITIES, Operation, Thread

from ._recorder import ThreadRecorder
from ._script import Script, shown, status_of
from ._settled import settled

__all__ = ["CONTRACT", "Check", "OpenSource"]

# Opens an empty thread whose agent plays a script.
OpenSource: TypeAlias = Callable[[Script], AbstractAsyncContextManager[Thread]]


@attrs.frozen
class Check:
    """One promise of a thread.

    Attributes:
        name: The promise.
        needs: What the thread must be able to do for it.
    """

    name: str
    needs: frozenset[str]
    _run: Callable[[OpenSource], Awaitable[None]]

    async def __call__(self, open_source: OpenSource) -> bool:
        """Check a source.

        Args:
            open_source: Opens an empty thread whose agent plays the script that it is given: one turn for
                each question, told what was said last.

        Returns:
            Whether it was checked; false when the thread cannot do what the promise is about.

        Raises:
            AssertionError: The promise is broken.
        """
        async with open_source(Script("ok")) as thread:
            if not self.needs <= thread.capabilities:
                return False
        await self._run(open_source)
        return True

    def __str__(self) -> str:
        return self.name


def _expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        message = f"{what}: {found!r}, where {wanted!r} was promised"
        raise AssertionError(message)


async def _answers_in_order(open_source: OpenSource) -> None:
    script = Script("one", "two")
    async with open_source(script) as thread:
        await thread.append("first")
        await _rest(thread)
        await thread.append("second")
        await _rest(thread)
        _expect(shown(thread.state.messages), ["u:first", "a:one", "u:second", "a:two"], "the conversation")
        _expect(script.asked, ["first", "second"], "what the agent was asked")
        _expect(len(thread.state.branches), 0, "messages with alternatives")
        _expect(thread.state.head_id, thread.state.messages[-1].id, "the head")


async def _running_is_told_once(open_source: OpenSource) -> None:
    async with open_source(Script(["a", "b", "c"])) as thread:
        with ThreadRecorder(thread) as recorder:
            await thread.append("hello")
            await _rest(thread)
        _expect(recorder.running, [False, True, False], "the running flag")
        _expect(recorder.statuses[-1], "complete/unknown", "the last status")


async def _text_only_grows(open_source: OpenSource) -> None:
    gates = [anyio.Event() for _ in range(3)]
    steps = [step for number, gate in enumerate(gates) for step in (f"{number}", gate)]
    async with open_source(Script(steps)) as thread:
        with ThreadRecorder(thread) as recorder:
            thread.append("hello")
            for gate in gates:
                await settled()
                gate.set()
            await _rest(thread)
        answers = [text for text in recorder.last_texts if text != "hello"]
        answers = [text for text in answers if text]
        _expect(answers, ["0", "01", "012"], "the texts of the answer")
        questions = [frame[0] for frame in recorder.frames if frame]
        _expect(set(questions), {"u:hello"}, "the question in every frame")


async def _what_did_not_change_stays_the_object(open_source: OpenSource) -> None:
    async with open_source(Script("one", ["t", "w", "o"])) as thread:
        await thread.append("first")
        await _rest(thread)
        before = tuple(thread.state.messages)
        _expect(shown(before), ["u:first", "a:one"], "the conversation")
        emissions: list[Any] = []
        subscription = thread.message(before[1].id).subscribe(emissions.append)
        await thread.append("second")
        await _rest(thread)
        subscription.dispose()
        kept = [one is other for one, other in zip(before, thread.state.messages, strict=False)]
        _expect(kept, [True, True], "earlier messages are the objects that they were")
        _expect(len(emissions), 1, "emissions of an earlier answer during the next one")


async def _draft_is_sent_and_emptied(open_source: OpenSource) -> None:
    async with open_source(Script("ok")) as thread:
        thread.composer.set_text("   ")
        await thread.composer.send()
        _expect(len(thread.state.messages), 0, "messages after sending blanks")
        thread.composer.set_text("hello")
        operation = thread.composer.send()
        _expect(thread.state.composer.text, "", "the draft after sending")
        await operation
        await _rest(thread)
        _expect(shown(thread.state.messages), ["u:hello", "a:ok"], "the conversation")


async def _cancel_keeps_what_had_come(open_source: OpenSource) -> None:
    script = Script(["half", anyio.Event()], "whole")
    async with open_source(script) as thread:
        thread.append("hello")
        await settled()
        thread.cancel_run()
        await _rest(thread)
        _expect(thread.state.is_running, False, "running after the cancel")
        _expect(shown(thread.state.messages), ["u:hello", "a:half"], "the conversation after the cancel")
        _expect(status_of(thread.state.messages[-1]), "incomplete/cancelled", "the status after the cancel")
        await thread.append("again")
        await _rest(thread)
        _expect(shown(thread.state.messages)[-1], "a:whole", "the next answer")
        _expect(status_of(thread.state.messages[1]), "incomplete/cancelled", "the status of the cancelled answer")


async def _another_answer_is_a_branch(open_source: OpenSource) -> None:
    async with open_source(Script("one", "two")) as thread:
        await thread.append("hello")
        await _rest(thread)
        first = thread.state.messages[-1].id
        await thread.reload(first)
        await _rest(thread)
        _expect(shown(thread.state.messages), ["u:hello", "a:two"], "the conversation")
        last = thread.state.messages[-1].id
        _expect(thread.branches_of(last), (first, last), "the answers")
        thread.switch_branch(last, "previous")
        await _rest(thread)
        _expect(shown(thread.state.messages), ["u:hello", "a:one"], "the other branch")


async def _an_edit_is_a_branch(open_source: OpenSource) -> None:
    async with open_source(Script("one", "two")) as thread:
        await thread.append("hello")
        await _rest(thread)
        first = thread.state.messages[0].id
        composer = thread.begin_edit(first)
        _expect(composer.state.text, "hello", "the draft of the edit")
        composer.set_text("hi")
        await composer.send()
        await _rest(thread)
        _expect(shown(thread.state.messages), ["u:hi", "a:two"], "the conversation")
        _expect(len(thread.branches_of(thread.state.messages[0].id)), 2, "versions of the question")
        thread.switch_to_branch(first)
        await _rest(thread)
        _expect(shown(thread.state.messages), ["u:hello", "a:one"], "the branch of the first version")


async def _unknown_ids_are_named(open_source: OpenSource) -> None:
    async with open_source(Script("ok")) as thread:
        await thread.append("hello")
        await _rest(thread)
        before = shown(thread.state.messages)
        for what, call in _BY_ID.items():
            if what in thread.capabilities or what == "":
                error = await _raised(call, thread, "nowhere")
                _expect(isinstance(error, MessageNotFoundError), True, f"an unknown id in {what or 'branches_of'}")
        _expect(shown(thread.state.messages), before, "the conversation")


async def _what_is_missing_is_refused_by_name(open_source: OpenSource) -> None:
    async with open_source(Script("ok")) as thread:
        await thread.append("hello")
        await _rest(thread)
        _expect(sorted(thread.capabilities - CAPABILITIES), list[str](), "capabilities without a name")
        before = thread.state
        for what, call in _REFUSABLE.items():
            if what not in thread.capabilities:
                error = await _raised(call, thread, before.messages[-1].id)
                _expect(isinstance(error, UnsupportedError), True, f"{what}, which is missing, raises {error!r}")
                _expect(getattr(error, "action", None), what, "the name of what is missing")
        _expect(shown(thread.state.messages), shown(before.messages), "the conversation")


async def _listeners_are_alone(open_source: OpenSource) -> None:
    async with open_source(Script(["a", "b"])) as thread:

        def raises(_value: object) -> None:
            message = "a listener that raises, on purpose"
            raise ValueError(message)

        first = thread.select(lambda state: state.is_running).subscribe(raises)
        with ThreadRecorder(thread) as recorder:
            await thread.append("hello")
            await _rest(thread)
        first.dispose()
        _expect(recorder.running, [False, True, False], "what the others hear")
        _expect(shown(thread.state.messages), ["u:hello", "a:ab"], "the conversation")


async def _nothing_happens_after_the_end(open_source: OpenSource) -> None:
    ended: list[str] = []
    async with open_source(Script("ok")) as thread:
        await thread.append("hello")
        await _rest(thread)
        thread.select(lambda state: state.is_running).subscribe(None, None, lambda: ended.append("completed"))
    _expect(ended, ["completed"], "slices at the end")
    _expect(shown(thread.state.messages), ["u:hello", "a:ok"], "what can still be read")
    error = await _raised(lambda thread, _id: thread.append("too late"), thread, "")
    _expect(isinstance(error, RuntimeClosedError), True, f"a message after the end raises {error!r}")


Call = Callable[[Thread, str], Any]
_BY_ID: dict[str, Call] = {
    "": lambda thread, id: thread.branches_of(id),
    "reload": lambda thread, id: thread.reload(id),
    "edit": lambda thread, id: thread.begin_edit(id),
    "switch_to_branch": lambda thread, id: thread.switch_to_branch(id),
}
_REFUSABLE: dict[str, Call] = {
    "delete": lambda thread, id: thread.delete_message(id),
    "refetch": lambda thread, _id: thread.refetch(),
    "reload": lambda thread, id: thread.reload(id),
}


async def _raised(call: Call, thread: Thread, id: str) -> Exception | None:
    try:
        made = call(thread, id)
        if isinstance(made, Operation):
            await made
    except Exception as error:
        return error
    return None


async def _rest(thread: Thread) -> None:
    """Wait until the source has said all it has to say."""
    await settled()
    while thread.state.is_running:
        await settled()


def _check(name: str, run: Callable[[OpenSource], Awaitable[None]], *needs: str) -> Check:
    return Check(name, frozenset(needs), run)


CONTRACT: tuple[Check, ...] = (
    _check("answers come in order, one for each question", _answers_in_order),
    _check("running is told once for each answer", _running_is_told_once),
    _check("the text of an answer only grows", _text_only_grows),
    _check("what did not change stays the same object", _what_did_not_change_stays_the_object),
    _check("a draft is sent and emptied, a blank one is not", _draft_is_sent_and_emptied),
    _check("a cancelled answer keeps what had come", _cancel_keeps_what_had_come, "cancel"),
    _check("another answer is a branch", _another_answer_is_a_branch, "reload", "switch_to_branch"),
    _check("an edit is a branch", _an_edit_is_a_branch, "edit", "switch_to_branch"),
    _check("unknown ids are named and change nothing", _unknown_ids_are_named),
    _check("what is missing is refused by its name", _what_is_missing_is_refused_by_name),
    _check("a listener that raises disturbs nobody", _listeners_are_alone),
    _check("nothing happens after the end", _nothing_happens_after_the_end),
)
