"""The debug mode of a store: every evaluation is checked against a plain one."""

from __future__ import annotations

import warnings
from operator import eq as equals

from partwise.reactive._cell import Cell
from partwise.reactive._evaluate import Outcome
from partwise.reactive._report import SelectorWarning


def check_cell(cell: Cell, outcome: Outcome, state: object) -> Outcome:
    """Compare an evaluation with two plain ones; warn, and stop tracking, if they differ.

    Returns:
        The outcome to go on with: the plain one where the two differ.
    """
    recipe = cell.recipe
    if cell.warned or not recipe.selectors or outcome.error is not None:
        return outcome
    plain, again = recipe.read(state), recipe.read(state)
    if plain.error is not None or any(eq is not equals for eq in recipe.earlier):
        # A comparer in the middle may hold on to a value that a plain evaluation would not give.
        return outcome
    if not _agree(cell, plain.value, again.value):
        text = f"{recipe} gives another value each time it is asked; give it an `eq`, or a stable result"
    elif not _agree(cell, plain.value, outcome.value):
        text = f"{recipe} gives {outcome.value!r} when tracked but {plain.value!r} when not; it is now evaluated always"
    else:
        return outcome
    warnings.warn(text, SelectorWarning, stacklevel=2)
    cell.warned = cell.broad = True
    return plain


def _agree(cell: Cell, one: object, other: object) -> bool:
    return one is other or bool(cell.recipe.eq(one, other))
