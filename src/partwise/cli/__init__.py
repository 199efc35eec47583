"""The `partwise` command.

`partwise chat` is a chat in the terminal, with rules, a recorded stream or an OpenAI-compatible endpoint as its
engine; `partwise chat --plain` does the same line by line, for pipes.
"""

from ._main import main

__all__ = ["main"]
