"""The events of AG-UI, as the package of the protocol types them; needs the extra ``ag-ui``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from partwise.errors import WireError

if TYPE_CHECKING:
    from ag_ui.core import BaseEvent

__all__ = ["OURS", "EventReader", "ag_ui_types", "event_reader", "ours_of"]

# Under this key of metadata, and in custom events so named, stands what the protocol has no word for.
OURS: Final = "partwise"

EventReader = Callable[[Mapping[str, Any]], "BaseEvent"]

# Of no use to a reader: whatever is wrong with them is no reason to lose the event.
_IGNORED: Final = frozenset({"rawEvent", "raw_event", "timestamp"})


def ag_ui_types() -> Any:
    """Return the module of the protocol's types.

    Raises:
        ImportError: It is not installed.
    """
    try:
        import ag_ui.core
    except ImportError as cause:
        message = "Reading and writing AG-UI needs the ag-ui-protocol package: pip install 'partwise[ag-ui]'"
        raise ImportError(message, name="ag_ui") from cause
    return ag_ui.core


@cache
def event_reader() -> EventReader:
    """Return what turns a payload into an event.

    It raises a ``WireError`` for what is no event, and is made once, since that takes a while.

    Raises:
        ImportError: The types are not installed.
    """
    types = ag_ui_types()
    from pydantic import TypeAdapter, ValidationError

    adapter: TypeAdapter[BaseEvent] = TypeAdapter(types.Event)

    def read(payload: Mapping[str, Any]) -> BaseEvent:
        fields = {name: value for name, value in payload.items() if name not in _IGNORED}
        kind = str(payload.get("type"))[:50]
        try:
            return adapter.validate_python(fields)
        except ValidationError as cause:
            first = cause.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(step) for step in first["loc"][1:])
            message = f"An event {kind!r} is not as it should be: {where or 'it'}: {first['msg']}; it was dropped."
            raise WireError(message, where=f"event {kind!r}.{where}", code="invalid-value") from None

    return read


def ours_of(event: BaseEvent) -> Mapping[str, Any]:
    """Return what an encoder of ours has said beside an event."""
    ours = (event.metadata or {}).get(OURS)
    return cast("Mapping[str, Any]", ours) if isinstance(ours, Mapping) else {}
