"""What ends a resumable stream, or a part in one."""

from __future__ import annotations

from ._root import PartwiseError


class StreamError(PartwiseError):
    """Something about one resumable stream.

    Attributes:
        stream_id: The stream.
        code: What it is.
    """

    code = "stream"

    def __init__(self, stream_id: str, text: str, *, code: str) -> None:
        super().__init__(text)
        self.stream_id = stream_id
        self.code = code


class StreamFailedError(StreamError):
    """A reader gets no more of a stream, which is not complete; what it has stays right.

    Attributes:
        code: ``"failed"`` when the producer raised (the text is its exception's), ``"unspecified"`` when
            it did not say why, ``"cancelled"`` when it was cancelled, ``"abandoned"`` when it died without
            a word, ``"expired"``, ``"trimmed"``, or the code of a `StreamLimitError`.
    """


class StreamLostError(StreamError):
    """A producer may write no more of a stream.

    Attributes:
        code: ``"superseded"`` when the id was deleted and is produced anew, ``"finalized"`` when the stream
            has ended, ``"abandoned"`` when the producer's lease ran out.
    """


class StreamLimitError(StreamError):
    """A stream would grow over a limit of its store.

    Attributes:
        code: ``"too-many-streams"``, ``"too-many-entries"``, ``"too-many-bytes"`` or ``"chunk-too-large"``.
    """
