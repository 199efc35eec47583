"""A chat model over any endpoint that speaks OpenAI's Chat Completions; needs the extra ``openai``."""

from ._chat import OpenAIChat
from ._decoder import ChatDecoder, ChatPayload
from ._request import chat_messages, chat_request

__all__ = ["ChatDecoder", "ChatPayload", "OpenAIChat", "chat_messages", "chat_request"]
