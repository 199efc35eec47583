"""The wires: chunks to bytes and back, for the protocols that other servers and clients speak."""

from ._ag_ui_decoder import AgUiDecoder
from ._ag_ui_encoder import AgUiEncoder
from ._asgi import StreamResponse
from ._assistant_transport import AssistantTransportDecoder, AssistantTransportEncoder
from ._codec import CODECS, Codec, Decoder, Encoder, decode, encode
from ._data_stream import DataStreamDecoder
from ._data_stream_encoder import DataStreamEncoder
from ._plain_text import PlainTextDecoder, PlainTextEncoder
from ._ui_encoder import UIMessageStreamEncoder
from ._ui_stream import OnData, UIMessageStreamDecoder

__all__ = [
    "CODECS",
    "AgUiDecoder",
    "AgUiEncoder",
    "AssistantTransportDecoder",
    "AssistantTransportEncoder",
    "Codec",
    "DataStreamDecoder",
    "DataStreamEncoder",
    "Decoder",
    "Encoder",
    "OnData",
    "PlainTextDecoder",
    "PlainTextEncoder",
    "StreamResponse",
    "UIMessageStreamDecoder",
    "UIMessageStreamEncoder",
    "decode",
    "encode",
]
