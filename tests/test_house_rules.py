"""The rules of the house. A list of exceptions below gives a reason for each entry, and only shrinks."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import partwise

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "partwise"

# Exceptions: what may break which rule, and why.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}
UNDOCUMENTED: dict[str, str] = {}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BANNED_WORDS = re.compile(r"Manager|Helper|Utils?(?![a-z])|^(?:Base|Abstract)[A-Z]|Impl$")
BANNED_FILES = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc", "base"}
SILENCED = re.compile(r"#\s*(?:type:\s*ignore|noqa|pyright:\s*ignore|pragma:)(?P<rest>.*)$")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
TEXT_SUFFIXES = {".py", ".md", ".toml", ".yml", ".yaml", ".lock", ".txt", ".json", ".jsonl", ".sh", ".cfg", ""}


def _sources() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(_text(path), filename=str(path))


def _module(path: Path) -> str:
    parts = list(path.relative_to(SOURCE.parent).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    """Each absolute name that a file imports, with its line; `from a.b import c` gives `a.b.c`."""
    package = _module(path) if path.name == "__init__.py" else _module(path).rpartition(".")[0]
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                origin = ".".join([*above, *([origin] if origin else [])])
            yield from ((f"{origin}.{alias.name}", node.lineno) for alias in node.names)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))


def _is_public_module(path: Path) -> bool:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return not any(part.startswith("_") and part != "__init__" for part in parts)


# ---------------------------------------------------------------- sizes


def test_no_file_is_too_long() -> None:
    limits = [(path, 160 if path.name == "__init__.py" else 600) for path in _sources()]
    limits += [(path, 800) for path in sorted((ROOT / "tests").rglob("*.py"))]

    too_long = [
        f"{_name(path)}: {lines} lines, at most {limit}"
        for path, limit in limits
        if (lines := len(_text(path).splitlines())) > limit and _name(path) not in LONG_FILES
    ]

    assert not too_long


def test_no_function_is_too_long() -> None:
    too_long = [
        f"{_name(path)}:{node.lineno} {node.name}: {lines} lines, at most 80"
        for path in _sources()
        for node in _functions(_tree(path))
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > 80
        and f"{_module(path)}.{node.name}" not in LONG_FUNCTIONS
    ]

    assert not too_long


def test_the_front_door_has_at_most_forty_names() -> None:
    assert len([name for name in partwise.__all__ if not name.startswith("__")]) <= 40


# ---------------------------------------------------------------- doors


def _bound_names(path: Path) -> set[str]:
    """The public names that a module defines, or takes out of the files of its own room."""
    own = _module(path)
    names: set[str] = set()
    for node in _tree(path).body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom) and path.name == "__init__.py":
            inside = node.level == 1 or (node.module or "").startswith(f"{own}.")
            names |= {alias.asname or alias.name for alias in node.names if inside}
    return {name for name in names if not name.startswith("_")}


def _doors() -> list[Path]:
    return [path for path in _sources() if _is_public_module(path) and path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", _doors(), ids=_name)
def test_a_door_lists_exactly_what_it_offers(path: Path) -> None:
    declared = [
        ast.literal_eval(node.value)
        for node in _tree(path).body
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
    ]

    offered = _bound_names(path)
    if not offered and not declared:
        return
    assert len(declared) == 1, f"{_name(path)} needs one __all__"
    assert len(declared[0]) == len(set(declared[0]))
    assert set(declared[0]) == offered


def test_every_name_at_the_front_door_leads_somewhere() -> None:
    typed = {
        alias.asname or alias.name
        for node in ast.walk(_tree(SOURCE / "__init__.py"))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("partwise.")
        for alias in node.names
    }

    assert typed == set(partwise.__all__)
    for name in partwise.__all__:
        assert getattr(partwise, name) is not None
        assert name in dir(partwise)


def _python(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


def test_every_room_can_be_imported_first() -> None:
    rooms = sorted({_module(path) for path in _doors() if path.name == "__init__.py" and path.parent.parent == SOURCE})

    for room in rooms:
        done = _python(f"import {room}")

        assert done.returncode == 0, f"{room}: {done.stderr}"


def test_importing_partwise_loads_no_room_and_no_extra() -> None:
    done = _python("import sys, partwise; print(*sys.modules)")

    assert done.returncode == 0, done.stderr
    assert not {"textual", "rich", "openai", "asyncio", "pydantic", "reactivex"} & set(done.stdout.split())


# ---------------------------------------------------------------- who may touch what


def test_nobody_reaches_into_the_private_files_of_another_room() -> None:
    reached = [
        f"{_name(path)}:{line} {name}"
        for path in _sources()
        for name, line in _imports(path)
        if name.startswith("partwise.")
        and _room(name) != _room(_module(path))
        and any(part.startswith("_") for part in name.split(".")[1:])
        and not name.startswith("partwise._version")
    ]

    assert not reached


def test_asyncio_is_named_only_in_bindings() -> None:
    named = [
        f"{_name(path)}:{line}"
        for path in _sources()
        for name, line in _imports(path)
        if name.split(".")[0] == "asyncio" and _room(_module(path)) != "bindings"
    ]

    assert not named


def test_distinct_until_changed_is_always_told_how_to_compare() -> None:
    bare = [
        f"{_name(path)}:{node.lineno}"
        for path in _sources()
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Call)
        and (getattr(node.func, "attr", None) or getattr(node.func, "id", None)) == "distinct_until_changed"
        and not any(keyword.arg == "comparer" for keyword in node.keywords)
        and len(node.args) < 2
    ]

    assert not bare


def test_exceptions_are_defined_in_one_room() -> None:
    elsewhere = [
        f"{_name(path)}:{node.lineno} {node.name}"
        for path in _sources()
        if path.parent != SOURCE / "errors"
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ClassDef)
        and not node.name.startswith("_")
        and any(ast.unparse(base).split(".")[-1].endswith(("Error", "Exception")) for base in node.bases)
    ]

    assert not elsewhere


# ---------------------------------------------------------------- words


def test_names_say_what_a_thing_is() -> None:
    vague = [
        f"{_name(path)}:{node.lineno} {node.name}"
        for path in _sources()
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ClassDef) and BANNED_WORDS.search(node.name)
    ]
    vague += [_name(path) for path in _sources() if path.stem.strip("_") in BANNED_FILES]

    assert not vague


def _undocumented(path: Path) -> Iterator[str]:
    module = _module(path)
    if ast.get_docstring(_tree(path)) is None:
        yield module
    for node in _tree(path).body:
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)) or node.name.startswith("_") or _is_overload(node):
            continue
        if ast.get_docstring(node) is None:
            yield f"{module}.{node.name}"
        if isinstance(node, ast.ClassDef):
            yield from (
                f"{module}.{node.name}.{member.name}"
                for member in node.body
                if isinstance(member, FUNCTIONS)
                and not member.name.startswith("_")
                and not _is_overload(member)
                and ast.get_docstring(member) is None
            )


def _is_overload(node: ast.stmt) -> bool:
    marks = {"overload", "override", "setter"}
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return any(ast.unparse(item).split(".")[-1] in marks for item in decorators)


def test_every_public_thing_is_documented() -> None:
    assert not [name for path in _sources() for name in _undocumented(path) if name not in UNDOCUMENTED]


def test_a_silenced_checker_is_told_why() -> None:
    unexplained = []
    for path in [*_sources(), *sorted((ROOT / "tests").rglob("*.py"))]:
        for number, line in enumerate(_text(path).splitlines(), start=1):
            found = SILENCED.search(line)
            if (
                found
                and path != Path(__file__).resolve()
                and not re.search(r"\]?\s*(?:-|#|:)\s*\w+\W+\w+", found["rest"])
            ):
                unexplained.append(f"{_name(path)}:{number} {line.strip()}")

    assert not unexplained


def test_nothing_is_left_unfinished() -> None:
    unfinished = [
        f"{_name(path)}:{number}"
        for path in _sources()
        for number, line in enumerate(_text(path).splitlines(), start=1)
        if UNFINISHED.search(line)
    ]

    assert not unfinished


# ---------------------------------------------------------------- what is committed


def _committed() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        return []
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_committed_file_names_the_machine_it_was_written_on() -> None:
    local = re.compile("|".join(["/" + "work/", "/" + "root/", "file" + ":///", "/" + "opt/"]))

    named = [
        f"{_name(path)}:{number}"
        for path in _committed()
        if path.suffix in TEXT_SUFFIXES and path.name != "LICENSE" and "vectors" not in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        if local.search(line)
    ]

    assert not named


def test_the_lock_names_only_the_public_package_index() -> None:
    hosts = set(re.findall(r"https?://([^/\"\s]+)", _text(ROOT / "uv.lock")))

    assert hosts <= {"pypi.org", "files.pythonhosted.org"}


def test_every_local_link_of_the_pages_leads_to_a_file() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]

    broken = [
        f"{_name(page)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)\s#]+)", _text(page))
        if "://" not in target and not (page.parent / target).exists()
    ]

    assert not broken
