"""Scripted failures as exceptions, and exceptions as the vectors write them."""

from typing import Any

from partwise.errors import AbortedError, HistoryError, NotSentError, PartwiseError

Json = Any


class ScriptedError(Exception):
    """What a script raised.

    Attributes:
        raised: How the vectors write it.
    """

    def __init__(self, raised: Json, text: str, **marks: Json) -> None:
        super().__init__(text)
        self.raised = raised
        for name, value in marks.items():
            setattr(self, name, value)


class CannotBeAskedError(Exception):
    """An operation is given arguments that the product's methods have no room for."""


def scripted(description: Json) -> Exception:
    """The exception that a script describes: a text, or a kind with its fields."""
    if isinstance(description, str):
        return ScriptedError(description, description)
    fields = {key: value for key, value in description.items() if key != "kind"}
    text = fields.get("message", "")
    match description.get("kind", "error"):
        case "abort":
            return AbortedError(text or "aborted")
        case "assistant-error":
            marks = {key: value for key, value in fields.items() if key != "message"}
            return ScriptedError(fields, text, **marks)
        case "coded":
            return ScriptedError(text, text, code=fields["code"])
        case _:
            return ScriptedError(text, text)


def written(error: BaseException) -> Json:
    """An exception as the vectors write it."""
    match error:
        case ScriptedError():
            return {"raised": error.raised}
        case AbortedError():
            return {"raised": "abort"}
        case HistoryError() if error.__cause__ is not None:
            return written(error.__cause__)
        case NotSentError():
            cause = {} if error.__cause__ is None else {"cause": written(error.__cause__)}
            return {"error": error.code, **cause}
        case CannotBeAskedError():
            return {"error": "invalid-argument"}
        case PartwiseError():
            return {"error": error.code}
        case _:
            return {"raised": f"{type(error).__name__}: {error}"}
