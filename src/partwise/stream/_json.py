"""The reader of arguments that stream in; it stands below this room, because stored messages are read by it too."""

from partwise.messages import ArgsReader

__all__ = ["ArgsReader"]
