"""Family ``repository``: operations on the message tree, and its state after each of them."""

from typing import Any

import attrs

from partwise.errors import CycleError, MessageNotFoundError, NotAllowedError, ParentNotFoundError
from partwise.repository import UNSET, Export, Tree, export_from_branches

from ._outcome import Outcome, differs, first_difference, passed

Json = dict[str, Any]


@attrs.frozen
class Message:
    """As much of a message as the vectors talk about."""

    id: str
    v: int = 0
    optimistic: bool = False


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    tree: Tree[Message] = Tree(lambda message: message.optimistic)
    state: Json = {}
    differences: dict[str, None] = {}
    steps = zip(vector["input"]["ops"], vector["expected"]["steps"], strict=True)
    for number, (op, expected) in enumerate(steps):
        actual = _perform(tree, op)
        if _is_refused_import(op, expected, actual, before=state, after=_state(tree)):
            differences["import-all-or-nothing"] = None
            _store_what_the_reference_kept(tree, op)
        after = _state(tree)
        shown = {key: value for key, value in expected.items() if key not in {"same", "error", "value"}}
        wanted = state if expected.get("same") else shown
        answer = {key: value for key, value in expected.items() if key in {"error", "value"}}
        failure = first_difference({**answer, **wanted}, {**actual, **after}, f"steps[{number}]")
        if failure is not None:
            return failure
        state = after
    return differs(*differences) if differences else passed()


def _perform(tree: Tree[Message], op: Json) -> Json:
    try:
        value = _apply(tree, op)
    except ParentNotFoundError:
        return {"error": "parent-not-found"}
    except MessageNotFoundError:
        return {"error": "not-found"}
    except CycleError:
        return {"error": "cycle"}
    except NotAllowedError as error:
        return {"error": error.code}
    return {} if value is None else {"value": value}


def _apply(tree: Tree[Message], op: Json) -> object:
    match op["op"]:
        case "put":
            tree.put(op["parent"], _message(op))
        case "delete":
            tree.delete(op["id"], op.get("replacement", UNSET))
        case "switch_to_branch":
            tree.switch_to(op["id"])
        case "reset_head":
            tree.reset_head(op["id"])
        case "clear":
            tree.clear()
        case "import":
            tree.import_(_export(op))
        case "reimport":
            tree.replace_all(tree.export())
        case _:
            return _query(tree, op)
    return None


def _query(tree: Tree[Message], op: Json) -> object:
    match op["op"]:
        case "get_messages":
            return [message.id for message in tree.path_to(op["head"])]
        case "get_message":
            place = tree.get(op["id"])
            return {"parentId": place.parent_id, "index": place.index}
        case "get_branches":
            return list(tree.branches_of(op["id"]))
        case "export":
            export = tree.export()
            entries = [[entry.message.id, entry.parent_id] for entry in export.entries]
            return {"headId": export.head_id, "messages": entries}
        case unknown:
            raise ValueError(f"unknown operation {unknown!r}")


def _message(op: Json) -> Message:
    return Message(op["id"], op.get("v", 0), op.get("optimistic", False))


def _export(op: Json) -> Export[Message]:
    return export_from_branches([(_message(entry), entry["parent"]) for entry in op["messages"]], op.get("headId"))


def _state(tree: Tree[Message]) -> Json:
    parents = [None, *(message.id for message in tree)]
    state: Json = {
        "head": tree.head_id,
        "path": [message.id for message in tree.messages],
        "tree": {parent or "": list(tree.children_of(parent)) for parent in parents if tree.children_of(parent)},
    }
    if tree.canonical_head_id != tree.head_id:
        state["canonical"] = tree.canonical_head_id
    contents = {message.id: message.v for message in tree if message.v}
    return {**state, "v": contents} if contents else state


def _is_refused_import(op: Json, expected: Json, actual: Json, *, before: Json, after: Json) -> bool:
    """Whether both refuse an import for the same reason, but only the product kept its state."""
    return (
        op["op"] == "import"
        and "error" in expected
        and actual == {"error": expected["error"]}
        and not expected.get("same")
        and after == (before or after)
    )


def _store_what_the_reference_kept(tree: Tree[Message], op: Json) -> None:
    """Go on from the recorded state: the entries before the one at fault stay stored there."""
    for entry in op["messages"]:
        if "error" in _perform(tree, {"op": "put", **entry}):
            return
