"""Every exception of partwise, drawn as one tree.

    PartwiseError
    ├── InvalidInputError (ValueError)      what was handed in cannot be used
    │   ├── MessageLikeError                a message-like value
    │   ├── WireError                       JSON or a chunk that came over a wire
    │   │   └── StateOperationError         a change of streamed state that cannot be applied
    │   ├── ToolDefinitionError             a function that cannot become a tool
    │   ├── ToolArgumentsError              arguments of a call that its tool cannot take
    │   ├── FeedError                       what the owner of an external store gives
    │   ├── QueuePlacementError             a place in the queue that does not exist
    │   ├── CycleError                      a parent that lies below its own child
    │   ├── NothingToResumeError            a run to be resumed, without the stream that goes on
    │   ├── StreamIdError                   an id that a resumable stream cannot have
    │   ├── CursorError                     a place that a resumable stream does not have
    │   └── SelectorError                   a selector or address that cannot be used
    ├── NotFoundError (LookupError)         an id that nothing here has
    │   ├── MessageNotFoundError
    │   ├── ParentNotFoundError
    │   ├── PartNotFoundError
    │   ├── ToolCallNotFoundError
    │   ├── ApprovalNotFoundError
    │   ├── OptionNotFoundError
    │   ├── BranchNotFoundError
    │   ├── AttachmentNotFoundError
    │   ├── QueueItemNotFoundError
    │   ├── StreamNotFoundError
    │   └── ThreadNotFoundError
    ├── UnsupportedError                    this thread cannot do that at all
    ├── NotAllowedError (RuntimeError)      possible, but not in the present state
    │   ├── ApprovalError                   an answer that an approval cannot take
    │   └── ToolConflictError               two tools with one name
    ├── NotSentError                        nothing reached a backend; the draft is still the user's
    ├── AdapterChangedError                 a list of threads was given another adapter meanwhile
    ├── ThreadNotOpenError                  the runtime of a thread of a list could not be opened, or was closed
    ├── AbortedError                        raised by a chat model to end its run as cancelled
    ├── AdapterError                        an adapter broke its contract
    │   ├── HistoryError                    a write to, or a read from, the history failed
    │   └── ThreadListError                 the list of threads could not be read or changed
    ├── StreamError                         a resumable stream
    │   ├── StreamFailedError               its reader gets no more of it, and it is not complete
    │   ├── StreamLostError                 its producer may write no more of it
    │   └── StreamLimitError                it would grow over a limit of its store
    ├── StoreError
    │   ├── WrongThreadError                a commit from a thread that does not own the store
    │   ├── WrongEventLoopError             a library that this kind of event loop cannot run
    │   ├── StoreClosedError
    │   └── RuntimeClosedError
    └── InternalError                       a broken invariant: a bug in partwise

Each carries the ids it is about as attributes, and a stable ``code`` for programs.
"""

from ._adapters import AdapterError, HistoryError, ThreadListError
from ._input import (
    CursorError,
    CycleError,
    FeedError,
    InvalidInputError,
    MessageLikeError,
    NothingToResumeError,
    QueuePlacementError,
    SelectorError,
    StateOperationError,
    StreamIdError,
    ToolArgumentsError,
    ToolDefinitionError,
    WireError,
)
from ._missing import (
    ApprovalNotFoundError,
    AttachmentNotFoundError,
    BranchNotFoundError,
    MessageNotFoundError,
    NotFoundError,
    OptionNotFoundError,
    ParentNotFoundError,
    PartNotFoundError,
    QueueItemNotFoundError,
    StreamNotFoundError,
    ThreadNotFoundError,
    ToolCallNotFoundError,
)
from ._refused import (
    AbortedError,
    AdapterChangedError,
    ApprovalError,
    NotAllowedError,
    NotSentError,
    ThreadNotOpenError,
    ToolConflictError,
    UnsupportedError,
)
from ._root import InternalError, PartwiseError
from ._stores import RuntimeClosedError, StoreClosedError, StoreError, WrongEventLoopError, WrongThreadError
from ._streams import StreamError, StreamFailedError, StreamLimitError, StreamLostError

__all__ = [
    "AbortedError",
    "AdapterChangedError",
    "AdapterError",
    "ApprovalError",
    "ApprovalNotFoundError",
    "AttachmentNotFoundError",
    "BranchNotFoundError",
    "CursorError",
    "CycleError",
    "FeedError",
    "HistoryError",
    "InternalError",
    "InvalidInputError",
    "MessageLikeError",
    "MessageNotFoundError",
    "NotAllowedError",
    "NotFoundError",
    "NotSentError",
    "NothingToResumeError",
    "OptionNotFoundError",
    "ParentNotFoundError",
    "PartNotFoundError",
    "PartwiseError",
    "QueueItemNotFoundError",
    "QueuePlacementError",
    "RuntimeClosedError",
    "SelectorError",
    "StateOperationError",
    "StoreClosedError",
    "StoreError",
    "StreamError",
    "StreamFailedError",
    "StreamIdError",
    "StreamLimitError",
    "StreamLostError",
    "StreamNotFoundError",
    "ThreadListError",
    "ThreadNotFoundError",
    "ThreadNotOpenError",
    "ToolArgumentsError",
    "ToolCallNotFoundError",
    "ToolConflictError",
    "ToolDefinitionError",
    "UnsupportedError",
    "WireError",
    "WrongEventLoopError",
    "WrongThreadError",
]
