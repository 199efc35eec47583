"""The only place that keeps listeners: a store, slices of its snapshot, and operators on them.

It knows nothing of chat. A `Store` holds one immutable snapshot; `select` and `at` give slices,
which are reactivex observables; a `KeyedSeq` is the list inside a snapshot whose versions share
what they have in common.
"""

from partwise.reactive._address import AddressStep, attr, first, index, key
from partwise.reactive._diff import Difference, diff
from partwise.reactive._events import Events
from partwise.reactive._frame import per_frame
from partwise.reactive._iterate import SliceIterator
from partwise.reactive._keyed import (
    ItemChange,
    ItemInserted,
    ItemMoved,
    ItemRemoved,
    ItemUpdated,
    changes_between,
    keyed_changes,
)
from partwise.reactive._record import Recording, record
from partwise.reactive._report import ErrorContext, ErrorHook, SelectorWarning, log_error
from partwise.reactive._sequence import KeyedSeq
from partwise.reactive._slice import Slice, shallow_equal
from partwise.reactive._store import Store, StoreStatistics
from partwise.reactive._subscription import Subscription
from partwise.reactive._text import TextAppended, TextDone, TextEvent, TextReset, text_deltas
from partwise.reactive._timer import LoopTimer, SchedulerTimer, Timer

__all__ = [
    "AddressStep",
    "Difference",
    "ErrorContext",
    "ErrorHook",
    "Events",
    "ItemChange",
    "ItemInserted",
    "ItemMoved",
    "ItemRemoved",
    "ItemUpdated",
    "KeyedSeq",
    "LoopTimer",
    "Recording",
    "SchedulerTimer",
    "SelectorWarning",
    "Slice",
    "SliceIterator",
    "Store",
    "StoreStatistics",
    "Subscription",
    "TextAppended",
    "TextDone",
    "TextEvent",
    "TextReset",
    "Timer",
    "attr",
    "changes_between",
    "diff",
    "first",
    "index",
    "key",
    "keyed_changes",
    "log_error",
    "per_frame",
    "record",
    "shallow_equal",
    "text_deltas",
]
