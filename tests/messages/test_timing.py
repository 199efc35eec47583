from partwise.messages import MessageTiming, ReasoningPart, StreamClock, TextPart, ToolCallPart, step_timing

from ._answers import answer


def measure(*snapshots: tuple[float, bool, tuple[object, ...]], **more: object) -> MessageTiming | None:
    clock: StreamClock | None = None
    timing: MessageTiming | None = None
    for now, is_running, content in snapshots:
        clock, timing = step_timing(clock, [answer(*content)], is_running=is_running, now=now, **more)  # type: ignore[arg-type]  # a counter
    return timing


def test_growth_of_text_and_reasoning_is_counted() -> None:
    timing = measure(
        (1000, True, ()),
        (1200, True, (ReasoningPart("ab"),)),
        (1300, True, (ReasoningPart("ab"),)),
        (1400, True, (ReasoningPart("ab"), TextPart("cd"))),
        (2000, False, (ReasoningPart("ab"), TextPart("cdefgh"), ToolCallPart(tool_call_id="c", tool_name="t"))),
    )

    assert timing == MessageTiming(
        stream_start_time=1000,
        first_token_time=200,
        total_stream_time=1000,
        token_count=2,
        tokens_per_second=2,
        total_chunks=3,
        tool_call_count=1,
    )


def test_an_answer_without_text_has_no_tokens() -> None:
    timing = measure((1000, True, ()), (1000, False, ()))

    assert timing == MessageTiming(stream_start_time=1000, total_stream_time=0)


def test_tokens_can_be_counted_by_somebody_who_knows() -> None:
    timing = measure((0, True, (TextPart("x"),)), (500, False, (TextPart("x"),)), count_tokens=lambda _: 7)

    assert timing is not None
    assert (timing.token_count, timing.tokens_per_second) == (7, 14)


def test_nothing_is_measured_before_an_answer_runs() -> None:
    assert step_timing(None, [answer(TextPart("x"))], is_running=False, now=1) == (None, None)
    assert step_timing(None, [], is_running=True, now=1) == (None, None)


def test_a_new_answer_starts_a_new_clock() -> None:
    clock, _ = step_timing(StreamClock(message_id="old", started_at=1, length=9), [answer()], is_running=True, now=5)

    assert clock == StreamClock(message_id="a1", started_at=5)
