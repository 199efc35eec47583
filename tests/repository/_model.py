"""The tree written down in the plainest way: lists, walks over everything, no shortcuts."""

from collections.abc import Iterable

from tests.repository._messages import Message


class RefusedError(Exception):
    """The model refuses an operation."""


class Model:
    """A tree as four dictionaries."""

    def __init__(self) -> None:
        self.messages: dict[str, Message] = {}
        self.parent: dict[str, str | None] = {}
        self.children: dict[str | None, list[str]] = {None: []}
        self.chosen: dict[str | None, str] = {}
        self.head: str | None = None

    # -- reading

    def line(self, message_id: str | None) -> list[str]:
        """Ids from the root down to a message."""
        above: list[str] = []
        while message_id is not None:
            above.insert(0, message_id)
            message_id = self.parent[message_id]
        return above

    def end(self, message_id: str | None) -> str | None:
        """The end of the chosen branch below a message."""
        while message_id in self.chosen:
            message_id = self.chosen[message_id]
        return message_id

    def below(self, message_id: str) -> list[str]:
        """Everything below a message."""
        return [other for other in self.messages if message_id in self.line(other)[:-1]]

    def stored_above(self, message_id: str | None) -> str | None:
        """The nearest message at or above this one that is not optimistic."""
        stored = [above for above in self.line(message_id) if not self.messages[above].optimistic]
        return stored[-1] if stored else None

    def export(self) -> list[tuple[str, str | None]]:
        """Ids and parents of what is worth keeping, parents first."""
        pairs: list[tuple[str, str | None]] = []

        def visit(parent_id: str | None) -> None:
            for message_id in self.children[parent_id]:
                if not self.messages[message_id].optimistic:
                    pairs.append((message_id, self.stored_above(self.parent[message_id])))
                visit(message_id)

        visit(None)
        return pairs

    # -- changing

    def put(self, parent_id: str | None, message: Message) -> None:
        if parent_id is not None and parent_id not in self.messages:
            raise RefusedError
        if message.id not in self.messages:
            self.messages[message.id] = message
            self.children[message.id] = []
            self._link(message.id, parent_id)
            if self.head == parent_id:
                self._show(message.id)
            return
        if self.parent[message.id] == parent_id:
            self.messages[message.id] = message
            return
        if message.id in self.line(parent_id):
            raise RefusedError
        self.messages[message.id] = message
        self._cut(message.id)
        self._link(message.id, parent_id)
        if self.head == parent_id and self.chosen[parent_id] == message.id:
            self._show(self.end(message.id))
        else:
            self._show(self.head)

    def delete(self, message_id: str, replacement: str | None) -> None:
        if message_id in self.line(replacement):
            raise RefusedError
        follows = self.head == message_id or (self.head == replacement and not self.children[replacement])
        self._take_out(message_id, replacement)
        self._show(self.end(replacement) if follows else self.head)

    def switch_to(self, message_id: str) -> None:
        self._leave_for(self.end(message_id))

    def reset_head(self, message_id: str) -> None:
        for other in self.below(message_id):
            self._forget(other)
        self.children[message_id] = []
        self.chosen.pop(message_id, None)
        self._leave_for(message_id)

    def add_all(self, chain: Iterable[tuple[str | None, Message]], head: str) -> None:
        """Import entries that are listed parents first, each once, and make no cycle."""
        for parent_id, message in chain:
            self.put(parent_id, message)
        self._leave_for(head)

    # -- steps

    def _link(self, message_id: str, parent_id: str | None) -> None:
        self.parent[message_id] = parent_id
        self.children[parent_id].append(message_id)
        self.chosen.setdefault(parent_id, message_id)

    def _cut(self, message_id: str) -> None:
        parent_id = self.parent[message_id]
        self.children[parent_id].remove(message_id)
        if self.chosen[parent_id] == message_id:
            del self.chosen[parent_id]
            if self.children[parent_id]:
                self.chosen[parent_id] = self.children[parent_id][-1]

    def _forget(self, message_id: str) -> None:
        del self.messages[message_id], self.parent[message_id], self.children[message_id]
        self.chosen.pop(message_id, None)

    def _take_out(self, message_id: str, replacement: str | None) -> None:
        for child in self.children[message_id]:
            self._link(child, replacement)
        self._cut(message_id)
        self._forget(message_id)

    def _show(self, head: str | None) -> None:
        self.head = head
        for message_id in self.line(head):
            self.chosen[self.parent[message_id]] = message_id

    def _leave_for(self, head: str | None) -> None:
        left = self.line(self.head) if self.head in self.messages else []
        self._show(head)
        for message_id in reversed(left):
            if message_id in self.line(head):
                break
            if self.messages[message_id].optimistic:
                self._take_out(message_id, self.parent[message_id])
