"""A chat model over any endpoint that speaks OpenAI's Chat Completions; needs the extra ``openai``."""

from ._chat import OpenAIChat
from ._decoder import ChatDecoder
from ._request import chat_messages, chat_request

__all__ = ["ChatDecoder", "OpenAIChat", "chat_messages", "chat_request"]
