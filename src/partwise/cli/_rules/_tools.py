"""The tools of the chat: what a model may do in the user's folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from partwise.errors import InvalidInputError
from partwise.messages import ApprovalOption
from partwise.tools import Toolkit, error_response

from ._arithmetic import work_out
from ._folder import Folder
from ._reading import Unit, count_in, list_folder, read_text, search_folder
from ._writing import write_text

__all__ = ["folder_tools"]

_ANSWERS = (
    ApprovalOption(id="allow-once", kind="allow-once", label="Allow once"),
    ApprovalOption(id="reject-once", kind="reject-once", label="Reject"),
)


def folder_tools(root: Path | str) -> Toolkit:
    """Make the tools that list, read, search, count in and write files of one folder, and calculate.

    Paths are relative to the folder; one that leads out of it, also by a link, is refused, and so is
    anything hidden. A tool that cannot do what it is asked answers with an error in plain words.

    Args:
        root: The folder.

    Returns:
        A toolkit; ``write_file`` in it needs approval.
    """
    folder = Folder(root)
    tools = Toolkit()

    @tools.frontend
    def list_files(path: str = ".", pattern: str | None = None) -> Any:
        """List the files and folders in a folder.

        Args:
            path: The folder, relative to the user's folder.
            pattern: Such as "*.py": gives the matching files in the folder and below it instead.
        """
        return _told(lambda: list_folder(folder, path, pattern))

    @tools.frontend
    def read_file(path: str) -> Any:
        """Read a text file.

        Args:
            path: The file, relative to the user's folder.
        """
        return _told(lambda: read_text(folder, path))

    @tools.frontend
    def search_files(text: str, path: str = ".") -> Any:
        """Find the lines that contain a text; large and small letters are the same.

        Args:
            text: The text to find.
            path: The file or folder to search, relative to the user's folder.
        """
        return _told(lambda: search_folder(folder, text, path))

    @tools.frontend
    def count(path: str, what: Unit = "lines") -> Any:
        """Count the lines, words or characters of a text file.

        Args:
            path: The file, relative to the user's folder.
            what: What to count.
        """
        return _told(lambda: count_in(folder, path, what))

    @tools.frontend
    def calculate(expression: str) -> Any:
        """Work out an arithmetic expression exactly.

        Args:
            expression: Numbers, + - * / // % ** and parentheses.
        """
        return _told(lambda: _sum(expression))

    @tools.frontend(needs_approval=True, approval_options=_ANSWERS)
    def write_file(path: str, text: str, append: bool = False) -> Any:
        """Write a text file, or add to its end.

        Args:
            path: The file, relative to the user's folder.
            text: What to write.
            append: Add to the end of the file instead of replacing it.
        """
        return _told(lambda: write_text(folder, path, text, append=append))

    return tools


def _told(work: Callable[[], dict[str, Any]]) -> Any:
    try:
        return work()
    except InvalidInputError as error:
        return error_response(str(error))
    except OSError as error:
        return error_response(f"{error.strerror or error}.")


def _sum(expression: str) -> dict[str, Any]:
    found = work_out(expression)
    answer = {"expression": expression, "value": found.value}
    return answer if found.about is None else {**answer, "about": found.about}
