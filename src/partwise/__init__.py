"""partwise: chat with language models and agents as reactive state.

The rooms, in the order in which data flows through them:

- `messages`: what a conversation is made of: parts, statuses, messages, attachments.
- `stream`: how an answer arrives: chunks, and the fold that turns them into a message.
- `repository`: the branching tree that keeps every message and every branch.
- `reactive`: the store: one snapshot, one queue of commits, slices indexed by what they read.
- `store`: the shape of the state of a thread and a composer, and named slices over it.
- `tools`: typed functions offered to a model, and their execution at most once.
- `adapters`: the protocols to implement: chat model, history, suggestions, feedback.
- `runtimes`: what turns user actions and model output into commits.
- `primitives`: headless widgets: what each thing on a screen shows and may do.
- `providers`, `persistence`, `bindings`, `testing`: ready-made models, histories, user interfaces and fakes.
- `cli`: the `partwise` command.
- `errors`: every exception, as one tree.

A room imports only from rooms below it. Everyday names are importable from here; each is
loaded when it is first used, so `import partwise` pays for nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from partwise._version import __version__

if TYPE_CHECKING:
    from partwise.errors import PartwiseError

__all__ = ["PartwiseError", "__version__"]

_HOMES = {
    "PartwiseError": "partwise.errors",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
