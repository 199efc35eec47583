"""A chat model that answers with a recorded stream."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, assert_never

from partwise.errors import InvalidInputError
from partwise.providers.anthropic import AnthropicMessages
from partwise.providers.openai import OpenAIChat, OpenAIResponses

from ._protocols import Protocol
from ._recording import Recording, read_recording

if TYPE_CHECKING:
    import httpx2

__all__ = ["Replayed", "replay"]

Replayed: TypeAlias = OpenAIChat | OpenAIResponses | AnthropicMessages

_ADDRESS = "http://replay.invalid/v1"


def replay(
    path: str | PathLike[str],
    protocol: Protocol | Literal["auto"] = "auto",
    *,
    speed: float | None = None,
    think_tags: bool = False,
) -> Replayed:
    """Return a chat model that answers with a recorded stream of OpenAI Chat, OpenAI Responses or Anthropic Messages.

    The recorded bytes go through the provider's SDK and through the code that reads live answers; only
    the network is replaced. Each run, and each further roundtrip of a run, replays the file from its
    start, whatever is asked.

    Args:
        path: A raw response body (``.sse``), or a file with one JSON payload a line.
        protocol: What the recording speaks; ``auto`` tells by its payloads.
        speed: Events per second; None for as fast as possible.
        think_tags: Whether text between ``<think>`` and ``</think>`` is reasoning, in a recording of OpenAI Chat.

    Raises:
        WireError: The file cannot be read, or is no recording of this kind; names the file and the line.
        InvalidInputError: ``speed`` is not above 0.
        ImportError: The SDK is not installed.
    """
    if speed is not None and not speed > 0:
        message = f"speed is {speed} events per second; give more than 0, or None for as fast as possible"
        raise InvalidInputError(message)
    recording = read_recording(path, protocol)
    match recording.protocol:
        case "openai-chat":
            return OpenAIChat(_openai(recording, speed), model="replay", think_tags=think_tags)
        case "openai-responses":
            return OpenAIResponses(_openai(recording, speed), model="replay")
        case "anthropic-messages":
            return AnthropicMessages(_anthropic(recording, speed), model="replay", max_pauses=0)
        case _:
            assert_never(recording.protocol)


def _openai(recording: Recording, speed: float | None) -> Any:
    try:
        from openai import AsyncOpenAI
    except ImportError as cause:
        message = "A replay goes through the openai package: pip install 'partwise[openai]'"
        raise ImportError(message, name="openai") from cause
    http_client = _http_client(recording, speed)
    return AsyncOpenAI(base_url=_ADDRESS, api_key="replay", max_retries=0, http_client=http_client)


def _anthropic(recording: Recording, speed: float | None) -> Any:
    try:
        from anthropic import AsyncAnthropic
    except ImportError as cause:
        message = "A replay goes through the anthropic package: pip install 'partwise[anthropic]'"
        raise ImportError(message, name="anthropic") from cause
    http_client = _http_client(recording, speed)
    return AsyncAnthropic(base_url=_ADDRESS, api_key="replay", max_retries=0, http_client=http_client)


def _http_client(recording: Recording, speed: float | None) -> httpx2.AsyncClient:
    import httpx2  # both SDKs come with it

    from ._transport import ReplayTransport

    return httpx2.AsyncClient(transport=ReplayTransport(recording.pieces, 1 / speed if speed else 0))
