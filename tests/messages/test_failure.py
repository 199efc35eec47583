import pytest

from partwise.errors import MessageNotFoundError, NotSentError
from partwise.messages import FrozenDict, error_record, is_error_record, is_not_sent


class Coded(Exception):
    def __init__(self, text: str, code: object, **marks: object) -> None:
        super().__init__(text)
        self.code = code
        for name, mark in marks.items():
            setattr(self, name, mark)


class Mute:
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "record"),
    [
        (
            {"code": "network", "message": "m", "severity": "info"},
            {"code": "network", "message": "m", "severity": "info"},
        ),
        (ValueError("boom"), {"code": "unknown", "message": "boom"}),
        (TimeoutError(), {"code": "unknown", "message": "TimeoutError"}),
        ("boom", {"code": "unknown", "message": "boom"}),
        (5, {"code": "unknown", "message": "[int] 5"}),
        (None, {"code": "unknown", "message": "[NoneType] None"}),
        (Mute(), {"code": "unknown", "message": "[Mute]"}),
        ({"code": "c"}, {"code": "unknown", "message": "[dict] {'code': 'c'}"}),
        (Coded("socket hang up", "ECONNRESET"), {"code": "ECONNRESET", "message": "socket hang up"}),
        (Coded("m", 429), {"code": "unknown", "message": "m"}),
        (
            Coded("m", "c", severity="critical", display="loud"),
            {"code": "c", "message": "m", "severity": "critical"},
        ),
        (
            MessageNotFoundError("m1"),
            {
                "code": "not-found",
                "message": "No message with id 'm1'. Ids of the visible messages are in the thread's snapshot.",
            },
        ),
    ],
)
def test_whatever_went_wrong_becomes_a_record(value: object, record: dict[str, str]) -> None:
    made = error_record(value)

    assert made == record
    assert isinstance(made, FrozenDict)
    assert is_error_record(made)


@pytest.mark.parametrize(
    ("value", "is_record"),
    [
        ({"code": "c", "message": "m"}, True),
        ({"code": "c", "message": "m", "severity": "", "display": None}, True),
        ({"code": "c", "message": "m", "display": "toast", "more": 1}, True),
        ({"code": "c", "message": "m", "severity": "loud"}, False),
        ({"code": "c", "message": "m", "severity": ["info"]}, False),
        ({"code": 5, "message": "m"}, False),
        ({"code": "c"}, False),
        ("c", False),
        (None, False),
    ],
)
def test_only_a_whole_record_is_one(value: object, is_record: bool) -> None:
    assert is_error_record(value) is is_record


def test_an_error_that_was_not_sent_is_known_by_its_mark() -> None:
    foreign = Coded("m", "c", was_not_sent=True)

    assert is_not_sent(NotSentError("m"))
    assert is_not_sent(foreign)
    assert not is_not_sent(ValueError("m"))
    assert not is_not_sent(Coded("m", "c", was_not_sent="yes"))
