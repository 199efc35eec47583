"""What a type checker knows about a thread: the shapes that the README shows."""

from typing import assert_type

from reactivex import Observable

from partwise import LocalRuntime, Slice, per_frame
from partwise.store import PartSlice


def the_status_of_any_message_can_be_read(runtime: LocalRuntime) -> None:
    status = runtime.thread.select(lambda s: s.messages[-1].status.type)

    assert_type(status, Slice[str])


def the_text_of_a_part_is_text(runtime: LocalRuntime) -> Observable[str]:
    part = runtime.thread.message("a").part(0)

    assert_type(part, PartSlice)
    assert_type(part.text, Slice[str])
    return part.text.pipe(per_frame(15))
