"""Where in a message-like value one is, for errors and remarks that say so."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

import attrs
import pydantic

from partwise.errors import MessageLikeError

from ._validation import describe_invalid, validate

__all__ = ["LikeIssue", "Place", "Report", "log_issue"]

_LOGGER = logging.getLogger("partwise.messages")


@attrs.frozen(kw_only=True)
class LikeIssue:
    """Something of a message-like value that could not be kept.

    Attributes:
        code: ``image`` (no picture that may be shown), ``unknown-field`` or ``metadata-role``.
        text: What was left out, of which message, and what to do.
        part_index: The position of the part, when it is about one part.
    """

    code: str
    text: str
    message_id: str | None = None
    part_index: int | None = None


Report: TypeAlias = Callable[[LikeIssue], None]


def log_issue(issue: LikeIssue) -> None:
    """Log an issue as a warning; what is done with issues unless told otherwise."""
    _LOGGER.warning("%s", issue.text)


@attrs.frozen(kw_only=True)
class Place:
    """One message, or one part of it, that is being read."""

    role: str
    message_id: str | None
    report: Report
    part_index: int | None = None

    def part(self, index: int) -> Place:
        """The place of one part of this message."""
        return attrs.evolve(self, part_index=index)

    def fail(self, code: str, text: str, *, cause: Exception | None = None) -> NoReturn:
        """Raise the error about this place."""
        message = f"{self._name()}: {text}"
        raise MessageLikeError(message, code=code, message_id=self.message_id, part_index=self.part_index) from cause

    def tell(self, code: str, text: str) -> None:
        """Report something that was left out here."""
        self.report(
            LikeIssue(code=code, text=f"{self._name()}: {text}", message_id=self.message_id, part_index=self.part_index)
        )

    def read(self, what: str, fields: dict[str, Any], code: str) -> Any:
        """Validate ``fields`` and make a value of them; unknown fields are left out and reported.

        Raises:
            MessageLikeError: They do not describe such a value; it carries ``code``.
        """
        while True:
            try:
                return validate(what, fields)
            except pydantic.ValidationError as error:
                if not self._leave_out_unknown(fields, error):
                    where, why = describe_invalid(error)
                    self.fail(code, f"{where and where + ': '}{why}.", cause=error)

    def _leave_out_unknown(self, fields: dict[str, Any], error: pydantic.ValidationError) -> bool:
        unknown = [fault["loc"] for fault in error.errors(include_url=False) if fault["type"] == "extra_forbidden"]
        for loc in unknown:
            *steps, name = (step for step in loc if not (isinstance(step, str) and step.startswith("<")))
            holder: Any = fields
            for step in steps:
                holder = holder[step]
            del holder[name]
            path = ".".join(str(step) for step in (*steps, name))
            self.tell("unknown-field", f"the unknown field {path!r} is left out; custom metadata can carry it.")
        return bool(unknown)

    def _name(self) -> str:
        message = (
            f"The {self.role} message" if self.message_id is None else f"The {self.role} message {self.message_id!r}"
        )
        return message if self.part_index is None else f"{message}, part {self.part_index}"
