"""A chat model that answers with a recorded stream."""

from __future__ import annotations

from os import PathLike

from partwise.errors import InvalidInputError
from partwise.providers.openai import OpenAIChat

from ._recording import read_recording

__all__ = ["replay_chat"]


def replay_chat(path: str | PathLike[str], *, speed: float | None = None, think_tags: bool = False) -> OpenAIChat:
    """Return a chat model that answers with a recorded OpenAI Chat stream.

    The recorded bytes go through the SDK and through the code that reads live answers; only the
    network is replaced. Each run, and each further roundtrip of a run, replays the file from its
    start, whatever is asked.

    Args:
        path: A raw response body (``.sse``), or a file with one JSON payload a line.
        speed: Events per second; None for as fast as possible.
        think_tags: Whether text between ``<think>`` and ``</think>`` is reasoning.

    Raises:
        WireError: The file cannot be read, or is no recording of this kind; names the file and the line.
        InvalidInputError: ``speed`` is not above 0.
        ImportError: The SDK is not installed.
    """
    if speed is not None and not speed > 0:
        message = f"speed is {speed} events per second; give more than 0, or None for as fast as possible"
        raise InvalidInputError(message)
    pieces = read_recording(path)
    try:
        import httpx2
        from openai import AsyncOpenAI
    except ImportError as cause:
        message = "A replay goes through the openai package: pip install 'partwise[openai]'"
        raise ImportError(message, name="openai") from cause

    from ._transport import ReplayTransport  # needs the packages that were just looked for

    transport = ReplayTransport(pieces, 1 / speed if speed else 0)
    client = AsyncOpenAI(
        base_url="http://replay.invalid/v1",
        api_key="replay",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=transport),
    )
    return OpenAIChat(client, model="replay", think_tags=think_tags)
