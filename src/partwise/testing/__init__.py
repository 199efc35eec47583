"""For tests of chats: scripted models, recorders, rest, virtual time, and what every source has to do.

It needs no test framework. `CONTRACT` is the row of promises that the runtimes of partwise keep; run it over a source
of your own.
"""

from ._contract import CONTRACT, Check, OpenSource
from ._recorder import ThreadRecorder
from ._script import Script, Step, shown, status_of
from ._settled import settled
from ._time import VirtualTimer

__all__ = [
    "CONTRACT",
    "Check",
    "OpenSource",
    "Script",
    "Step",
    "ThreadRecorder",
    "VirtualTimer",
    "settled",
    "shown",
    "status_of",
]
