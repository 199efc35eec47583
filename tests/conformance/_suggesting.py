"""Which of the recorded requests for suggestions the product makes, too."""

from typing import Any

Json = Any


class Suggesting:
    """Takes the requests out of an expectation that the product does not make.

    Attributes:
        numbers: The requests that are left, by their recorded numbers.
        has_refused: Whether any was taken out.
    """

    def __init__(self, given: Json, steps: list[Json]) -> None:
        self.numbers: list[int] = []
        self.has_refused = False
        self._scripts: list[Json] = given.get("suggestion") or []
        self._statuses: dict[str, str] = {}
        self._refused: set[int] = set()
        self._is_refused = False
        opened: set[str] = set()
        for number, step in enumerate(steps):
            step["log"] = [entry for entry in step["log"] if self._keeps(entry, opened)]
            if self._is_refused:
                step["state"] = {key: value for key, value in step["state"].items() if key != "suggestions"}
            op = given["steps"][number - 1] if number else {"op": "create"}
            if op["op"] == "signal":
                opened.add(op["name"])

    def _keeps(self, entry: Json, opened: set[str]) -> bool:
        match entry:
            case ["initial" | "snapshot" | "unnotified", state]:
                self._statuses |= {item["id"]: item["status"]["type"] for item in state["messages"] if "status" in item}
            case ["event", "runStart"]:
                self._is_refused = False
            case ["suggest", request, ids]:
                self._is_refused = not ids or self._statuses.get(ids[-1]) != "complete"
                if self._is_refused:
                    self._refused.add(request)
                    self.has_refused = True
                    return False
                self.numbers.append(request)
            case ["suggest-abort", request]:
                # Ending a request that has ended is no event in the product.
                return request not in self._refused and self._waits(request, opened)
            case _:
                pass
        return True

    def _waits(self, request: int, opened: set[str]) -> bool:
        steps = self._scripts[request].get("steps", []) if request < len(self._scripts) else []
        return any(step["wait"] not in opened for step in steps if "wait" in step)
