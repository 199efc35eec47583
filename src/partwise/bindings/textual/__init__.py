"""Textual: widgets that follow slices; needs the extra ``textual``.

A thread usually outlives the app that shows it, so its commits come from tasks that know nothing of the app. There,
a widget must not be touched. `Follows` hands each value to the widget's own message pump, newest first, and ends with
the widget; `StreamedMarkdown` shows a growing text by appending to it.
"""

from ._follow import FRAMES, Follows
from ._markdown import StreamedMarkdown

__all__ = ["FRAMES", "Follows", "StreamedMarkdown"]
