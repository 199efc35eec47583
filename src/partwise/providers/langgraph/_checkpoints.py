"""What a graph remembers: its checkpoints, the branches that they make, and where each can go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from partwise.errors import NotAllowedError

from ._blocks import fields_of
from ._names import Names
from ._reading import Group, groups_of

__all__ = ["Checkpoint", "Checkpoints"]


@attrs.define(eq=False)
class Checkpoint:
    """One step of a graph.

    Attributes:
        config: By which the graph goes on from here.
        is_input: Whether it holds an input that was not taken in yet; what it shows is what was there before.
        kept: How many messages it begins with that the checkpoint above it has, too.
        added: The ids of those that follow.
        groups: What it shows; None where a later one shows more.
        next: The nodes that would be run.
        waiting: The interrupts that nobody has answered.
        failure: What the step failed with.
    """

    id: str
    parent_id: str | None
    config: Any
    is_input: bool
    created_at: datetime
    kept: int
    added: tuple[str, ...]
    last_name: str | None
    groups: tuple[tuple[str, Group], ...] | None
    next: tuple[str, ...]
    waiting: tuple[Any, ...]
    failure: str | None


class Checkpoints:
    """The checkpoints of one thread, oldest first."""

    def __init__(self) -> None:
        self._known: dict[str, Checkpoint] = {}
        self._names = Names()
        self.first_seen: dict[str, datetime] = {}

    def __contains__(self, checkpoint_id: object) -> bool:
        return checkpoint_id in self._known

    def get(self, checkpoint_id: str | None) -> Checkpoint | None:
        """Return a checkpoint, or None."""
        return None if checkpoint_id is None else self._known.get(checkpoint_id)

    @property
    def newest(self) -> Checkpoint | None:
        """The one that was made last."""
        return next(reversed(self._known.values()), None)

    @property
    def ends(self) -> list[Checkpoint]:
        """The last checkpoints of all branches, oldest first."""
        return [one for one in self._known.values() if one.groups is not None]

    def take(self, snapshots: Sequence[Any]) -> None:
        """Read what is new.

        Args:
            snapshots: States of the graph, oldest first. One that is known is read again.
        """
        for snapshot in snapshots:
            checkpoint = self._read(snapshot)
            self._known[checkpoint.id] = checkpoint
            above = self.get(checkpoint.parent_id)
            if above is not None:
                above.groups = None

    def named(self, groups: Iterable[Group], above: Checkpoint | None) -> list[tuple[str, Group]]:
        """Tell the ids under which groups are shown that follow on a checkpoint."""
        return self._names.of(groups, None if above is None else above.id, self._above)

    def path(self, checkpoint: Checkpoint | None) -> list[str]:
        """Return the ids of what a checkpoint shows."""
        chain: list[Checkpoint] = []
        while checkpoint is not None:
            chain.append(checkpoint)
            checkpoint = self.get(checkpoint.parent_id) if checkpoint.kept else None
        ids: list[str] = []
        for one in reversed(chain):
            ids[one.kept :] = one.added
        return ids

    def end_of(self, name: str, present: Checkpoint | None) -> Checkpoint | None:
        """Return the end of a branch that shows a message: the present one if it does, else the newest."""
        ends = [*([] if present is None else [present]), *reversed(self.ends)]
        whole = [one for one in ends if one.last_name == name]
        return next(iter(whole or [one for one in ends if name in self.path(one)]), None)

    def before(self, name: str, end: Checkpoint) -> Checkpoint:
        """Return where a branch was before it had a message.

        Raises:
            NotAllowedError: The graph remembers no such moment (code ``"no-checkpoint"``).
        """
        for checkpoint in self._upward(end):
            above = self.get(checkpoint.parent_id)
            if name in checkpoint.added and name not in self.path(above):
                while above is not None and above.is_input and above.parent_id is not None:
                    above = self.get(above.parent_id)
                if above is not None:
                    return above
        raise _no_checkpoint(name, "before")

    def after(self, name: str | None, end: Checkpoint, *, is_first: bool) -> Checkpoint:
        """Return where a branch ended with a message.

        Args:
            name: The message; None: nothing had been said.
            end: The end of the branch.
            is_first: Whether to return the first such moment, in which nothing was done about it, or the last.

        Raises:
            NotAllowedError: The graph remembers no such moment (code ``"no-checkpoint"``).
        """
        found = [one for one in self._upward(end) if one.last_name == name and not one.is_input]
        if not found:
            raise _no_checkpoint(name or "", "after")
        return found[-1 if is_first else 0]

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Put messages into the order in which they were seen first; those never seen come last."""
        ranks = {name: rank for rank, name in enumerate(self.first_seen)}
        return sorted(names, key=lambda name: ranks.get(name, len(ranks)))

    def _upward(self, checkpoint: Checkpoint | None) -> Iterator[Checkpoint]:
        while checkpoint is not None:
            yield checkpoint
            checkpoint = self.get(checkpoint.parent_id)

    def _above(self, checkpoint_id: str) -> str | None:
        checkpoint = self.get(checkpoint_id)
        return None if checkpoint is None else checkpoint.parent_id

    def _read(self, snapshot: Any) -> Checkpoint:
        id, parent_id = str(_checkpoint_id(snapshot.config)), _checkpoint_id(snapshot.parent_config)
        told: Mapping[str, Any] = snapshot.metadata or {}
        above, before = self.get(parent_id), self._known.get(id)
        groups = self._names.take(
            groups_of(fields_of(snapshot.values).get("messages") or ()), id, parent_id, self._above
        )
        names = [name for name, _ in groups]
        path = self.path(above)
        kept = next((at for at, pair in enumerate(zip(path, names, strict=False)) if pair[0] != pair[1]), None)
        kept = min(len(path), len(names)) if kept is None else kept
        created_at = datetime.fromisoformat(snapshot.created_at)
        for name in names[kept:]:
            self.first_seen.setdefault(name, created_at)
        return Checkpoint(
            id=id,
            parent_id=parent_id,
            config=snapshot.config,
            is_input=told.get("source") == "input",
            created_at=created_at,
            kept=kept,
            added=tuple(names[kept:]),
            last_name=names[-1] if names else None,
            groups=tuple(groups) if before is None or before.groups is not None else None,
            next=tuple(snapshot.next),
            waiting=tuple(one for task in snapshot.tasks if task.result is None for one in task.interrupts),
            failure=next((str(task.error) for task in snapshot.tasks if task.error is not None), None),
        )


def _checkpoint_id(config: Mapping[str, Any] | None) -> str | None:
    place: Mapping[str, Any] = (config or {}).get("configurable") or {}
    return place.get("checkpoint_id")


def _no_checkpoint(name: str, when: str) -> NotAllowedError:
    text = f"The graph has no checkpoint from {when} message {name!r}, so nothing can begin there."
    return NotAllowedError(text, code="no-checkpoint", id=name)
