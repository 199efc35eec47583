"""What is recorded of a stream, changed for the reasons that ``docs/differences.md`` gives."""

import copy
from typing import Any

from ._stream_shown import shown_steps

Json = Any

KNOWN = {"text", "reasoning", "tool-call", "file", "data", "image", "generative-ui"}
REASONS = {"stop", "length", "content-filter", "tool-calls", "other", "error", "unknown"}
RESULT = {"result", "isError", "isPreliminary", "artifact", "modelContent", "messages"}


class Ledger:
    """Follows the chunks of a stream, and says what the product promises where it differs.

    Attributes:
        rows: The rows that were needed.
        ignored: Fields that are compared in no snapshot.
    """

    def __init__(self, given: Json, rows: dict[str, None]) -> None:
        self.rows = rows
        self.ignored: set[str] = set()
        self.parts: list[Json] = [self._of(part) for part in given.get("initialMessage", {}).get("parts", [])]
        self.status = copy.deepcopy(given.get("initialMessage", {}).get("status", {"type": "running"}))
        self.status_differs = False

    def _of(self, start: Json) -> Json:
        kind = start.get("type")
        is_known = kind in KNOWN or (kind == "source" and start.get("sourceType") in ("url", "document"))
        part: Json = {"kind": kind if is_known else "data", "metadata": start.get("providerMetadata") or None}
        if not is_known:
            rest = {key: value for key, value in start.items() if key not in ("type", "parentId")}
            named = {"parentId": start["parentId"]} if start.get("parentId") else {}
            part["whole"] = {"type": "data", "name": kind or "unknown", "data": rest, **named}
            self.rows["unknown-part-as-data"] = None
            self.ignored |= {"tokenCount", "tokensPerSecond"}
        if kind == "file" and start.get("filename"):
            part["filename"] = start["filename"]
            self.rows["filename-kept"] = None
        if kind == "tool-call":
            part["id"] = self._free_id(start["toolCallId"])
        return part

    def _free_id(self, wanted: str) -> str:
        taken = {part.get("id") for part in getattr(self, "parts", [])}
        free, number = wanted, 1
        while free in taken:
            number += 1
            free = f"{wanted}-{number}"
        if free != wanted:
            self.rows["ids-unique-in-message"] = None
        return free

    def take(self, raw: Json, recorded: Json, metas: Json) -> None:
        """Take note of a chunk, and of the snapshot that was recorded after it."""
        kind, path = raw["type"], raw.get("path", [])
        at = path[0] if len(path) == 1 and type(path[0]) is int and 0 <= path[0] < len(self.parts) else None
        match kind:
            case "part-start":
                self.parts.append(self._of(raw["part"]))
            case "text-delta" | "part-finish" if at is not None:
                self._described(self.parts[at], raw)
                if kind == "text-delta" and ("whole" in self.parts[at] or "args" in self.parts[at]):
                    self.ignored.add("firstTokenTime")
            case "tool-call-args-text-finish" if at is not None and self.parts[at]["kind"] == "tool-call":
                self._args_end(self.parts[at], recorded["parts"][at], metas.get(str(at)))
            case "result" if at is not None and self.parts[at]["kind"] == "tool-call":
                self._result(self.parts[at], raw, recorded["parts"][at])
            case "error":
                self._error(raw)
            case "message-finish":
                self._finish(raw, recorded)
            case _:
                pass

    def _described(self, part: Json, raw: Json) -> None:
        if raw.get("providerMetadata"):
            merged = dict(part["metadata"] or {})
            for name, fields in raw["providerMetadata"].items():
                merged[name] = {**merged.get(name, {}), **fields}
            part["metadata"] = merged

    def _args_end(self, part: Json, recorded: Json, meta: Json) -> None:
        if "args" in part:
            return
        text, args = recorded["argsText"], recorded["args"]
        part["args"], part["meta"] = {"argsText": text, "args": args}, meta

    def _result(self, part: Json, raw: Json, recorded: Json) -> None:
        if "messages" in raw:
            self.rows["nested-messages-read"] = None
        if "result" in part or raw.get("isPreliminary"):
            return
        part["result"] = {key: recorded[key] for key in RESULT if key in recorded}
        part["timing"] = recorded.get("timing")
        if "result" not in raw:
            self.rows["absent-result"] = None
            part["result"]["result"] = "<no result>"

    def _error(self, raw: Json) -> None:
        if raw.get("severity") in ("warning", "info"):
            self.rows["warnings-not-fatal"] = None
            self.status_differs = True
            return
        error = {"code": raw.get("code", "unknown"), "message": raw.get("error") or "unknown error"}
        if raw.get("severity") == "critical":
            error["severity"] = "critical"
        self.status = {"type": "incomplete", "reason": "error", "error": error}

    def _finish(self, raw: Json, recorded: Json) -> None:
        if "error" in self.status:
            return
        reason = raw["finishReason"]
        calls = [part for part in recorded["parts"] if part["type"] == "tool-call"]
        is_open = [call for call in calls if "result" not in call or call.get("isPreliminary")]
        if reason not in REASONS:
            self.rows["unlisted-reason-is-other"], self.status_differs = None, True
            reason = "other"
        if reason == "tool-calls" and not calls:
            self.rows["tool-calls-without-call"], self.status_differs = None, True
            reason = "unknown"
        if reason == "unknown" and is_open:
            self.rows["unknown-finish-infers"], self.status_differs = None, True
            reason = "tool-calls"
        match reason:
            case "stop" | "unknown":
                self.status = {"type": "complete", "reason": reason}
            case "tool-calls":
                self.status = {"type": "requires-action", "reason": reason}
            case _:
                self.status = {"type": "incomplete", "reason": reason}

    def end(self, recorded: Json) -> None:
        """Take note of the end of the stream."""
        if self.status == {"type": "running"}:
            self.status = recorded["status"]

    def promised(self, recorded: Json) -> Json:
        """The snapshot that the product promises."""
        promised = copy.deepcopy(recorded)
        if self.status_differs:
            promised["status"] = copy.deepcopy(self.status)
            self.ignored.add("timing")
        promised["parts"] = [self._part(at, part) for at, part in enumerate(promised["parts"])]
        promised["metadata"]["steps"] = shown_steps(promised["metadata"]["steps"])
        timing = promised["metadata"].get("timing")
        if "timing" in self.ignored:
            promised["metadata"].pop("timing", None)
        elif timing is not None:
            timing["toolCallCount"] = sum(part["kind"] == "tool-call" for part in self.parts)
            for name in self.ignored:
                timing.pop(name, None)
            if "tokensPerSecond" in timing:
                timing["tokensPerSecond"] = round(timing["tokensPerSecond"], 6)
        return promised

    def _part(self, at: int, part: Json) -> Json:
        noted = self.parts[at]
        if "whole" in noted:
            return dict(noted["whole"])
        if part["type"] not in ("text", "reasoning"):
            part.pop("status", None)
            part.pop("state", None)
        if noted["kind"] != "data":
            if (part.get("providerMetadata") or None) != noted["metadata"]:
                self.rows["metadata-merged"] = None
            part.pop("providerMetadata", None)
            if noted["metadata"]:
                part["providerMetadata"] = noted["metadata"]
        if "filename" in noted:
            part["filename"] = noted["filename"]
        if part["type"] == "tool-call":
            self._call(part, noted)
        return {key: value for key, value in part.items() if key not in self.ignored}

    def _call(self, part: Json, noted: Json) -> None:
        part["toolCallId"] = noted["id"]
        if "args" in noted and any(part[key] != value for key, value in noted["args"].items()):
            self.rows["args-after-end-dropped"] = None
            part |= copy.deepcopy(noted["args"])
        if "result" in noted:
            now = {key: part[key] for key in RESULT if key in part}
            if now != noted["result"] and "absent-result" not in self.rows:
                self.rows["first-result-final"] = None
            for key in RESULT:
                part.pop(key, None)
            part |= copy.deepcopy(noted["result"])
            if noted["timing"] is not None:
                part["timing"] = noted["timing"]
        if "messages" in part:
            part["messages"] = sum("content" in message for message in part["messages"])
