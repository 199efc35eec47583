"""What a conversation is made of: parts, statuses, messages and attachments, all frozen values."""

# Packed by hand: one name a line would hide the files among two hundred lines.
# fmt: off
# isort: off
from ._approvals import Approval, ApprovalOption, ApprovalResolution, Confirm
from ._attachments import (
    Attachment, AttachmentStatus, CompleteAttachment, FailedStatus, PendingAttachment, UploadingStatus,
    WaitingStatus,
)
from ._blank import is_blank
from ._continue import should_continue
from ._decisions import Decision, apply_decision, resolve_approval
from ._failure import error_record, is_error_record, is_not_sent
from ._frozen import FrozenDict, FrozenList, JsonValue, freeze, thaw
from ._growing import Pieces, Source, as_written, deferring, fill
from ._ids import new_id
from ._json_reader import ArgsReader, parse_partial_object
from ._json_values import is_json_value, json_equal
from ._like import branches_from_likes, message_from_like, messages_from_likes
from ._like_parts import parts_from_like
from ._like_place import LikeIssue, Report, log_issue
from ._messages import (
    AssistantMessage, AssistantMetadata, Feedback, Message, MessageTiming, Metadata, Role, Step, SystemMessage,
    Usage, UserMessage,
)
from ._missing import MISSING, Missing, MissingType
from ._parts import (
    AssistantPart, AudioPart, DataPart, DocumentSourcePart, FileContent, FilePart, GenerativeUIPart, ImagePart,
    Interrupt, ModelContent, Part, ReasoningPart, SourcePart, TextContent, TextPart, Timing, ToolCallPart,
    UrlSourcePart, UserPart,
)
from ._reading import message_text, thread_state
from ._status import auto_status, group_status, part_status
from ._spellings import spelled
from ._statuses import (
    COMPLETE, COMPLETE_STOP, COMPLETE_UNKNOWN, INCOMPLETE_CANCELLED, INCOMPLETE_TOOL_CALLS, REQUIRES_INTERRUPT,
    REQUIRES_TOOL_CALLS, RUNNING, CompleteReason, CompleteStatus, IncompleteReason, IncompleteStatus, MessageStatus,
    PartStatus, RequiresActionReason, RequiresActionStatus, RunningStatus,
)
from ._text import join_text
from ._timing import StreamClock, step_timing
from ._updates import with_content, with_metadata, with_part, with_status
from ._wire import message_from_json, message_to_json

__all__ = [
    "COMPLETE", "COMPLETE_STOP", "COMPLETE_UNKNOWN", "INCOMPLETE_CANCELLED", "INCOMPLETE_TOOL_CALLS", "MISSING",
    "REQUIRES_INTERRUPT", "REQUIRES_TOOL_CALLS", "RUNNING", "Approval", "ApprovalOption", "ApprovalResolution",
    "ArgsReader", "AssistantMessage", "AssistantMetadata", "AssistantPart", "Attachment", "AttachmentStatus",
    "AudioPart", "CompleteAttachment", "CompleteReason", "CompleteStatus", "Confirm", "DataPart", "Decision",
    "DocumentSourcePart", "FailedStatus", "Feedback", "FileContent", "FilePart", "FrozenDict", "FrozenList",
    "GenerativeUIPart", "ImagePart", "IncompleteReason", "IncompleteStatus", "Interrupt", "JsonValue", "LikeIssue",
    "Message", "MessageStatus", "MessageTiming", "Metadata", "Missing", "MissingType", "ModelContent", "Part",
    "PartStatus", "PendingAttachment", "Pieces", "ReasoningPart", "Report", "RequiresActionReason",
    "RequiresActionStatus", "Role", "RunningStatus", "Source", "SourcePart", "Step", "StreamClock", "SystemMessage",
    "TextContent", "TextPart", "Timing", "ToolCallPart", "UploadingStatus", "UrlSourcePart", "Usage", "UserMessage",
    "UserPart", "WaitingStatus", "apply_decision", "as_written", "auto_status", "branches_from_likes", "deferring",
    "error_record", "fill", "freeze", "group_status", "is_blank", "is_error_record", "is_json_value", "is_not_sent",
    "join_text", "json_equal", "log_issue", "message_from_json", "message_from_like", "message_text",
    "message_to_json", "messages_from_likes", "new_id", "parse_partial_object", "part_status", "parts_from_like",
    "resolve_approval", "should_continue", "spelled", "step_timing", "thaw", "thread_state", "with_content",
    "with_metadata", "with_part", "with_status",
]
