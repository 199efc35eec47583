"""Chat models over any endpoint that speaks OpenAI's Chat Completions or Responses; needs the extra ``openai``."""

from ._chat import OpenAIChat
from ._decoder import ChatDecoder
from ._request import chat_messages, chat_request
from ._responses import OpenAIResponses
from ._responses_decoder import ResponsesDecoder
from ._responses_request import responses_input, responses_request

__all__ = [
    "ChatDecoder",
    "OpenAIChat",
    "OpenAIResponses",
    "ResponsesDecoder",
    "chat_messages",
    "chat_request",
    "responses_input",
    "responses_request",
]
