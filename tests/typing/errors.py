"""What a type checker knows about the errors a caller catches."""

from typing import assert_type

from partwise.errors import MessageLikeError, MessageNotFoundError, PartwiseError


def lookup_errors_are_caught_as_lookup_errors(error: MessageNotFoundError) -> LookupError:
    assert_type(error.id, str)
    return error


def bad_input_is_caught_as_value_error(error: MessageLikeError) -> ValueError:
    assert_type(error.part_index, int | None)
    return error


def every_error_has_a_code(error: PartwiseError) -> None:
    assert_type(error.code, str)
