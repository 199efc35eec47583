"""What `partwise chat` was asked to do, as a value."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

import attrs

__all__ = ["DEFAULT_THREAD", "KEYS", "ChatOptions", "Engine", "Provider", "default_database"]

Provider: TypeAlias = Literal["openai", "openai-responses", "anthropic"]
Engine: TypeAlias = Literal["rules", "replay"] | Provider

KEYS: Final[dict[Engine, str]] = {
    "openai": "OPENAI_API_KEY",
    "openai-responses": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}
"""The variable that holds the key of each provider."""

DEFAULT_THREAD = "default"


@attrs.frozen(kw_only=True)
class ChatOptions:
    """The settings of one chat.

    Attributes:
        engine: What answers.
        replay: The recording that answers; only for the engine ``replay``.
        speed: Events of the recording per second; None is as fast as possible.
        database: The file that keeps the thread; None keeps nothing.
        thread_id: Which thread of the file.
        attached: Files that are sent with the first message.
        root: The only folder that tools may touch.
        base_url: Of the provider's endpoint; None is the provider's own.
        api_key: For a provider; None sends none.
        key_variable: Where the key was read from.
    """

    engine: Engine = "rules"
    is_plain: bool = False
    replay: Path | None = None
    speed: float | None = None
    base_url: str | None = None
    model: str | None = None
    api_key: str | None = attrs.field(default=None, repr=False)
    key_variable: str | None = None
    database: Path | None = None
    thread_id: str = DEFAULT_THREAD
    attached: tuple[Path, ...] = ()
    root: Path = attrs.field(factory=Path.cwd)
    max_steps: int = 8
    shows_history: bool = False


def default_database(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Return where chats are kept unless `--db` says otherwise: below the user's folder for data."""
    data = environment.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):
        local = environment.get("LOCALAPPDATA", "") if platform == "win32" else ""
        data = local or os.path.expanduser("~/.local/share")
    return Path(data) / "partwise" / "chat.sqlite3"
