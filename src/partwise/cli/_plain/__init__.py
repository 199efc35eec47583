"""The chat line by line: prompts and commands come from stdin, answers go to stdout as they arrive."""

from ._chat import PlainChat
from ._lines import LineSource, TextLines, descriptor_lines
from ._output import Output

__all__ = ["LineSource", "Output", "PlainChat", "TextLines", "descriptor_lines"]
