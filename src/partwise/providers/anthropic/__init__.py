"""A chat model over any endpoint that speaks Anthropic's Messages API; needs the extra ``anthropic``."""

from ._decoder import MessagesDecoder
from ._messages import AnthropicMessages
from ._request import messages_input, messages_request

__all__ = ["AnthropicMessages", "MessagesDecoder", "messages_input", "messages_request"]
