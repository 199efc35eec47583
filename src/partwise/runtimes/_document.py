"""The tree of a thread and the snapshot of what is visible of it, kept in step."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from operator import attrgetter
from typing import Any

import attrs

from partwise.messages import AssistantMessage, FrozenDict, Message
from partwise.reactive import ErrorHook, KeyedSeq, Store, log_error
from partwise.repository import Appended, Change, Export, Rebuilt, Replaced, Tree
from partwise.store import ThreadState, with_messages

from ._gathered import Gathered

__all__ = ["Document"]


class Document:
    """One thread's tree and store; whoever owns it is the only writer of both.

    Every change of the tree becomes one commit of exactly what it changed of the visible branch.

    Args:
        state: The snapshot to begin with; its messages must be empty.
        on_error: Told of listeners and selectors that raise.

    Attributes:
        on_head: Told the id of the last visible message whenever it is another one.
        is_behind: Whether the snapshot shows another branch than the tree has chosen.
    """

    def __init__(self, state: ThreadState, *, on_error: ErrorHook = log_error) -> None:
        self.is_behind = False
        self.on_head: Callable[[str | None], None] | None = None
        self.tree: Tree[Message] = Tree(_is_optimistic)
        self._on_error = on_error
        self.store: Store[ThreadState] = Store(state, name="thread", on_error=on_error)

    @property
    def state(self) -> ThreadState:
        """The present snapshot, writes of an open batch included."""
        return self.store.value

    def check_writer(self) -> None:
        """Check that the caller may change the document.

        Raises:
            WrongThreadError: Another thread owns it.
            StoreClosedError: It was closed.
        """
        self.store.check_writer()

    def retire(self) -> None:
        """Complete every slice; what work that is under way still writes is kept, and shown to nobody of before."""
        store, self.store = self.store, Store(self.store.value, name="thread, left", on_error=self._on_error)
        store.close()

    def batch(self) -> AbstractContextManager[object]:
        """Join the commits made inside into one emission."""
        return self.store.batch()

    def set(self, **fields: Any) -> None:
        """Commit new values of fields that do not come from the tree; equal values commit nothing."""
        state = self.state
        changed = {name: value for name, value in fields.items() if getattr(state, name) != value}
        if changed:
            self.store.commit(attrs.evolve(state, **changed))

    def find(self, message_id: str) -> Message | None:
        """Return a message of any branch, or None."""
        return self.tree.message(message_id)

    def put(self, parent_id: str | None, message: Message) -> None:
        """Store a message, or its newer version, and commit what that shows."""
        self.check_writer()
        self._show(self.tree.put(parent_id, message))

    def replace(self, message: Message) -> bool:
        """Store the newer version of a message where it is; returns False for a message that is gone, and stays so."""
        self.check_writer()
        before = self.tree.message(message.id)
        if before is None:
            return False
        change = self.tree.replace(message)
        if isinstance(change, Replaced):
            if before.metadata is message.metadata:  # as for each token: nothing but one message differs
                state = self.state
                self.store.commit(with_messages(state, state.messages.replace(message.id, message)))
            else:
                self._show(change)
        return True

    def delete(self, message_id: str) -> None:
        """Remove a message; what hangs under it moves to its parent."""
        self.check_writer()
        self._show(self.tree.delete(message_id))

    def switch_to(self, message_id: str) -> None:
        """Show the branch of a message."""
        self.check_writer()
        self._show(self.tree.switch_to(message_id))

    def import_(self, export: Export[Message]) -> None:
        """Add or update the messages of an export and show its head."""
        self.check_writer()
        self._show(self.tree.import_(export))

    def replace_all(self, export: Export[Message]) -> None:
        """Put an export in the place of everything."""
        self.check_writer()
        self._show(self.tree.replace_all(export))

    def change(self, steps: Callable[[Tree[Message], Callable[[Change[Message]], None]], None]) -> None:
        """Change the tree in several steps, and commit what all of them show at once.

        Args:
            steps: Called with the tree and a function that takes in what each step answers.
        """
        self.check_writer()
        gathered = Gathered(self.tree, len(self.state.messages))
        try:
            steps(self.tree, gathered.add)
        finally:
            self._show(gathered.total())

    def turn(self, message_id: str) -> None:
        """Switch the tree to the branch of a message without showing it; the next change shows what is there then."""
        self.check_writer()
        self.tree.switch_to(message_id)
        self.is_behind = self.tree.messages != tuple(self.state.messages)

    def _show(self, change: Change[Message]) -> None:
        if self.is_behind:
            self.is_behind = False
            change = Rebuilt(0, self.tree.messages)
        state = self.state
        messages = _messages_after(state.messages, change)
        branches = self._branches_after(state, messages, change)
        if messages is state.messages and branches is state.branches:
            return
        self.store.commit(
            attrs.evolve(
                state,
                messages=messages,
                branches=branches,
                head_id=self.tree.head_id,
                state=_model_state_after(state.state, messages, change),
            )
        )
        if self.on_head is not None and self.tree.head_id != state.head_id:
            self.on_head(self.tree.head_id)

    def _branches_after(
        self, state: ThreadState, messages: KeyedSeq[str, Message], change: Change[Message]
    ) -> FrozenDict | Any:
        if isinstance(change, Rebuilt):
            known = state.messages
            branches = {id: ids for id, ids in state.branches.items() if known.index_of(id) < change.kept}
            branches |= self.tree.alternatives_from(change.kept)
            fresh: tuple[str, ...] = ()
        else:
            fresh = (change.message.id,) if isinstance(change, Appended) else ()
            if not (fresh or change.branched):
                return state.branches
            branches = dict(state.branches)
        for message_id in change.branched:
            branches.pop(message_id, None)
        branches |= self.tree.alternatives_among((*change.branched, *fresh))
        return state.branches if branches == state.branches else FrozenDict(branches)


def _messages_after(messages: KeyedSeq[str, Message], change: Change[Message]) -> KeyedSeq[str, Message]:
    match change:
        case Replaced():
            return messages.replace(change.message.id, change.message)
        case Appended():
            return messages.append(change.message.id, change.message)
        case Rebuilt(kept, ()):
            return messages.truncate(kept)
        case Rebuilt():
            visible = (*messages[: change.kept], *change.messages)
            return messages.with_values(visible, key=_id_of)
        case _:
            return messages


def _model_state_after(state: Any, messages: KeyedSeq[str, Message], change: Change[Message]) -> Any:
    """The model's state after a change; a message that is no answer leaves it, however long the thread is."""
    if isinstance(change, (Appended, Replaced)):
        if not isinstance(change.message, AssistantMessage):
            return state
        if isinstance(change, Appended):
            return change.message.metadata.state
    return _model_state(messages)


def _model_state(messages: KeyedSeq[str, Message]) -> Any:
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            return message.metadata.state
    return None


_id_of: Callable[[Message], str] = attrgetter("id")


def _is_optimistic(message: Message) -> bool:
    return message.metadata.is_optimistic
