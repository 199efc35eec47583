import copy
import pickle

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.messages import Pieces, ReasoningPart, TextPart, ToolCallPart, as_written
from partwise.stream import Fold, PartDelta, ReasoningDelta, TextDelta, ToolArgsDelta, ToolCallStart
from tests.stream.grown import LONG, message, versions

KINDS = {
    "text": (lambda text: TextDelta(text), "text", ()),
    "reasoning": (lambda text: ReasoningDelta(text), "text", ()),
    "arguments": (
        lambda text: ToolArgsDelta(tool_call_id="c", text=text),
        "args_text",
        (ToolCallStart(tool_call_id="c", tool_name="t"),),
    ),
}


def grown(kind: str, *texts: str, are_read: bool = False) -> tuple[list, str]:
    """Return the part after each delta, and the name of the field that grows."""
    delta, name, before = KINDS[kind]
    messages = versions(*before, *(delta(text) for text in texts), are_read=are_read)[len(before) :]
    return [message.content[0] for message in messages], name


@pytest.mark.parametrize("kind", KINDS)
@given(
    texts=st.lists(st.text('ab{}":, \U0001f600\ud83d\ude00', min_size=1, max_size=5), min_size=1, max_size=8),
    data=st.data(),
)
def test_every_version_of_a_growing_text_stays_what_it_was_in_whatever_order_it_is_read(kind, texts, data):
    parts, name = grown(kind, '{"a": "' + LONG, *texts)
    eager, _ = grown(kind, '{"a": "' + LONG, *texts, are_read=True)
    order = data.draw(st.permutations(range(len(parts))))

    for at in order:
        assert getattr(parts[at], name) == getattr(eager[at], name)
        assert parts[at] == eager[at]
        assert hash(parts[at]) == hash(eager[at])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "same",
    [
        copy.copy,
        copy.deepcopy,
        attrs.evolve,
        lambda part: pickle.loads(pickle.dumps(part)),
        lambda part: type(part)(**attrs.asdict(part, recurse=False)),
    ],
    ids=["copy", "deepcopy", "evolve", "pickle", "fields"],
)
def test_what_is_made_of_a_growing_part_is_whole(kind, same):
    parts, name = grown(kind, LONG, "more")
    assert isinstance(as_written(parts[-1]), Pieces)

    made = same(parts[-1])

    assert getattr(made, name) == LONG + "more"
    assert made == parts[-1]
    assert repr(made) == repr(parts[-1])


def test_a_growing_part_is_matched_like_any_other():
    (part, longer), _ = grown("text", LONG, "more")

    match longer:
        case TextPart(text):
            assert text == LONG + "more"
    assert part.text == LONG


@pytest.mark.parametrize("kind", KINDS)
def test_versions_are_told_apart_without_joining_them(kind):
    parts, _ = grown(kind, LONG, "a", "b")

    assert parts[1] != parts[2]
    assert isinstance(as_written(parts[1]), Pieces)
    assert isinstance(as_written(parts[2]), Pieces)


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_means_nothing_is_refused_without_joining_anything(kind):
    parts, _ = grown(kind, LONG, "a")

    with pytest.raises(AttributeError, match="txet"):
        parts[-1].txet  # noqa: B018  # reading it is the point
    assert isinstance(as_written(parts[-1]), Pieces)


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_that_was_read_keeps_its_text_alone(kind):
    parts, name = grown(kind, LONG, "a")

    assert getattr(parts[-1], name) is getattr(parts[-1], name)
    assert as_written(parts[-1]) == LONG + "a"
    assert not hasattr(parts[-1], "_deferred")


def test_two_answers_that_go_on_from_one_message_do_not_mix():
    fold = Fold()
    base = fold.apply(fold.apply(message(), TextDelta(LONG)), TextDelta("-"))

    one, other = fold.apply(base, TextDelta("one")), fold.apply(base, TextDelta("other"))

    assert [each.content[0].text for each in (one, other, base)] == [LONG + "-one", LONG + "-other", LONG + "-"]


def test_arguments_of_a_moment_that_is_over_are_read_from_their_text():
    parts, _ = grown("arguments", '{"path": "a.txt", "li', 'nes": [1, 2', ", 3]", "}")

    assert [dict(part.args) for part in reversed(parts)] == [
        {"path": "a.txt", "lines": [1, 2, 3]},
        {"path": "a.txt", "lines": [1, 2, 3]},
        {"path": "a.txt", "lines": [1]},
        {"path": "a.txt"},
    ]


def test_the_end_of_an_answer_leaves_no_pieces():
    fold = Fold()
    grown = message()
    for chunk in (TextDelta(LONG), TextDelta("a"), *KINDS["arguments"][2], ToolArgsDelta(tool_call_id="c", text="{}")):
        grown = fold.apply(grown, chunk)

    finished = fold.finish(grown)

    assert [as_written(part) for part in finished.content] == [
        LONG + "a",
        "{}",
    ]


@pytest.mark.parametrize("kind", [TextPart, ReasoningPart, ToolCallPart])
def test_a_class_whose_text_grows_still_cannot_be_changed(kind):
    made = kind(tool_call_id="c", tool_name="t") if kind is ToolCallPart else kind("x")

    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        made.parent_id = "other"


def test_a_class_that_adds_to_a_growing_one_is_compared_and_goes_on_as_the_growing_one():
    @attrs.frozen
    class Marked(TextPart):
        mark: str = attrs.field(default="", kw_only=True)

    assert Marked("x", mark="a") == Marked("x", mark="a")
    assert Marked("x", mark="a") != Marked("x", mark="b")
    longer = Fold().apply(attrs.evolve(message(), content=(Marked(LONG),)), PartDelta(path=(0,), text="more"))
    assert longer.content == (TextPart(LONG + "more"),)
