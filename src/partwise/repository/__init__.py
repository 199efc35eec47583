"""The branching tree that keeps every message of a conversation, and every branch.

`Tree` is the room: it stores messages under their parents, knows which path through them is visible, and
answers each change with what became of that path. `Export` is a tree as plain values, for saving.
"""

from partwise.repository._exports import export_from_branches, export_from_list, ids_in_order
from partwise.repository._tree import UNSET, Tree, Unset
from partwise.repository._values import (
    Appended,
    Change,
    Entry,
    Export,
    Identified,
    Place,
    Rebuilt,
    Replaced,
    Unchanged,
)

__all__ = [
    "UNSET",
    "Appended",
    "Change",
    "Entry",
    "Export",
    "Identified",
    "Place",
    "Rebuilt",
    "Replaced",
    "Tree",
    "Unchanged",
    "Unset",
    "export_from_branches",
    "export_from_list",
    "ids_in_order",
]
