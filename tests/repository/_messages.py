"""Messages for the tests of the tree, and short ways to build and read trees."""

import attrs

from partwise.repository import Change, Tree


@attrs.frozen
class Message:
    """A message with a text and nothing else."""

    id: str
    text: str = ""
    optimistic: bool = False


def new_tree(*links: str) -> Tree[Message]:
    """A tree from links like ``"a"`` (at the root) and ``"a/b"`` (b under a), put in this order."""
    tree: Tree[Message] = Tree(lambda message: message.optimistic)
    for link in links:
        put(tree, link)
    return tree


def put(tree: Tree[Message], link: str, text: str = "", *, optimistic: bool = False) -> Change[Message]:
    """Put the message that a link names."""
    parent_id, _, message_id = link.rpartition("/")
    return tree.put(parent_id or None, Message(message_id, text, optimistic))


def path(tree: Tree[Message]) -> str:
    """Ids on the visible path, separated by spaces."""
    return " ".join(message.id for message in tree.messages)
