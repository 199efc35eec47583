"""The command as a process: pipes, signals, kills, and recordings."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from partwise.persistence import SqliteHistory

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    (root / "README.md").write_text("one\ntwo\nthree\n")
    return root


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "partwise", "chat", "--plain", *arguments]


def environment(tmp_path: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "OPENAI_API_KEY"}
    return {**kept, "PYTHONPATH": str(SOURCE), "XDG_DATA_HOME": str(tmp_path / "data"), "PYTHONWARNINGS": "error"}


def run(tmp_path: Path, *arguments: str, text: str = "", key: str | None = None) -> subprocess.CompletedProcess[str]:
    settings = environment(tmp_path)
    if key is not None:
        settings["OPENAI_API_KEY"] = key
    return subprocess.run(
        command(*arguments),
        input=text,
        capture_output=True,
        encoding="utf-8",
        env=settings,
        timeout=60,
        check=False,
    )


def test_a_pipe_gets_a_streamed_answer_with_a_real_tool_call(folder: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "--no-history", "--root", str(folder), text="count the lines in README.md\n")

    assert (done.returncode, done.stderr) == (0, "")
    assert '[tool] count -> {"path": "README.md", "lines": 3}' in done.stdout
    assert done.stdout.endswith("`README.md` has 3 lines.\n")
    assert not (tmp_path / "data").exists()


def test_the_thread_is_kept_in_the_data_folder_and_goes_on(folder: Path, tmp_path: Path) -> None:
    run(tmp_path, "--root", str(folder), text="what is 1 + 1\n/edit 1 what is 2 + 2\n")
    done = run(tmp_path, "--root", str(folder), "--show-history", text="/branch prev\n")

    assert (tmp_path / "data" / "partwise" / "chat.sqlite3").is_file()
    assert "1 you (2/2): what is 2 + 2" in done.stdout
    assert "1 you (1/2): what is 1 + 1" in done.stdout


def test_input_may_be_closed_undecodable_and_without_an_end(folder: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        command("--no-history", "--root", str(folder)),
        input=b"hello \xff\xfe\r\nthanks",
        capture_output=True,
        env=environment(tmp_path),
        timeout=60,
        check=False,
    )

    assert done.returncode == 0
    assert b"You're welcome." in done.stdout


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(tmp_path: Path, folder: Path, closed: str) -> None:
    line = shlex.join(command("--no-history", "--root", str(folder)))
    shell = ["sh", "-c", f"{line} {closed}"]
    done = subprocess.run(
        shell, input=b"hello\n", capture_output=True, env=environment(tmp_path), timeout=60, check=False
    )

    assert done.returncode == 0
    assert done.stderr == b""


def test_an_encoding_that_lacks_letters_gets_signs_in_their_place(tmp_path: Path, folder: Path) -> None:
    settings = {**environment(tmp_path), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        command("--no-history", "--root", str(folder)),
        input="write “é” to ü.txt\ny\nshow ü.txt\n".encode(),
        capture_output=True,
        env=settings,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"?" in done.stdout


def test_a_reader_that_leaves_ends_the_chat_quietly(folder: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        command("--no-history", "--root", str(folder)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"help\n")
        process.stdin.flush()
        process.stdout.read(1)
        process.stdout.close()
        assert process.wait(30) == 0
        assert process.stderr.read() == b""


def test_lines_that_nobody_waits_for_are_dropped_quietly(folder: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "--no-history", "--root", str(folder), text="/quit\n" + "hello\n" * 10_000)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device here that is always full")
@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are a matter of POSIX")
def test_a_full_disk_is_a_failure_that_says_what_is_not_stored(folder: Path, tmp_path: Path) -> None:
    starts = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000));"
        "from partwise.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["chat", "--plain", "--root", str(folder)]
    done = subprocess.run(
        [sys.executable, "-c", starts, *arguments],
        input="what is 1 + 1\n" + "what is 2 + 2 " + "x" * 300_000 + "\n",
        capture_output=True,
        encoding="utf-8",
        env=environment(tmp_path),
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert "the history could not append" in done.stderr
    assert "2 messages are shown above, but not stored in" in done.stderr.splitlines()[-1]
    again = run(tmp_path, "--root", str(folder), "--show-history", text="")
    assert "what is 1 + 1" in again.stdout
    assert "= 2" in again.stdout or "is 2" in again.stdout


def test_an_answer_that_cannot_be_written_is_told(folder: Path, tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command("--no-history", "--root", str(folder)),
            input=b"hello\n",
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(tmp_path),
            timeout=60,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr.startswith(b"partwise: error: cannot write")
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A chat whose recorded answer takes some seconds."""
    recording = tmp_path / "slow.jsonl"
    deltas = [f'{{"choices": [{{"index": 0, "delta": {{"content": "word{number} "}}}}]}}' for number in range(400)]
    recording.write_text("\n".join(deltas))
    with subprocess.Popen(
        command("--replay", str(recording), "--speed", "40", "--db", str(tmp_path / "kept.sqlite3")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    ) as process:
        yield process
        process.kill()


def begin(process: subprocess.Popen[bytes], text: bytes) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(text)
    process.stdin.flush()
    assert process.stdout.read(5) == b"word0"


def test_an_interrupt_cancels_the_answer_and_a_second_one_ends_the_chat(slow: subprocess.Popen[bytes]) -> None:
    begin(slow, b"hi\n")
    assert slow.stdout is not None
    slow.send_signal(signal.SIGINT)
    lines = []
    while not lines or lines[-1] != b"[cancelled]\n":
        lines.append(slow.stdout.readline())
        assert lines[-1]
    slow.send_signal(signal.SIGINT)

    assert slow.wait(30) == 130
    assert slow.stderr is not None
    assert slow.stderr.read() == b""


async def test_a_killed_chat_opens_again_with_all_but_the_answer_in_flight(
    slow: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    begin(slow, b"the question\n")
    slow.send_signal(signal.SIGKILL)
    slow.wait(30)

    async with SqliteHistory(tmp_path / "kept.sqlite3") as history:
        loaded = await history.load()
    assert loaded is not None
    assert [entry.message.content[0].text for entry in loaded.entries if entry.message.role == "user"] == [
        "the question"
    ]

    database = str(tmp_path / "kept.sqlite3")
    done = run(tmp_path, "--db", database, "--show-history", text="hello\n")
    assert "1 you: the question" in done.stdout
    assert "Hello!" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    with sqlite3.connect(database) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()


class Endpoint(ThreadingHTTPServer):
    """Speaks Chat Completions: asks for one tool call, then says what came of it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Speaker)
        self.requests: list[tuple[str | None, dict[str, Any]]] = []


class Speaker(BaseHTTPRequestHandler):
    server: Endpoint

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.headers["Authorization"], request))
        last = request["messages"][-1]
        if last["role"] == "tool":
            deltas: list[dict[str, Any]] = [{"content": "It says "}, {"content": last["content"]}]
        else:
            function = {"name": "count", "arguments": '{"path": "README.md"}'}
            deltas = [{"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}]
        finish = "stop" if last["role"] == "tool" else "tool_calls"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for choice in [
            *({"index": 0, "delta": delta} for delta in deltas),
            {"index": 0, "delta": {}, "finish_reason": finish},
        ]:
            self.wfile.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_an_endpoint_answers_with_tools_of_the_folder(folder: Path, tmp_path: Path, endpoint: Endpoint) -> None:
    url = f"http://127.0.0.1:{endpoint.server_port}/v1"
    key = ("--api-key-env", "OPENAI_API_KEY")
    arguments = (
        "--provider",
        "openai",
        "--model",
        "m1",
        "--base-url",
        url,
        "--no-history",
        "--root",
        str(folder),
        *key,
    )

    done = run(tmp_path, *arguments, text="how long is it\n", key="the-key")

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == ['[tool] count {"path": "README.md"}', '[tool] count -> {"path": "README.md", "lines": 3}']
    assert lines[2].startswith("It says ")
    assert [key for key, _ in endpoint.requests] == ["Bearer the-key"] * 2
    assert {request["model"] for _, request in endpoint.requests} == {"m1"}
    assert "write_file" in [tool["function"]["name"] for tool in endpoint.requests[0][1]["tools"]]


def test_an_endpoint_that_is_not_there_is_a_failed_answer(folder: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        done = run(tmp_path, "--provider", "openai", "--model", "m", "--base-url", url, "--no-history", text="hi\n")

    assert done.returncode == 1
    assert done.stdout.startswith("[error: ")
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""
