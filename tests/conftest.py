"""What all tests share: both async backends, Hypothesis profiles, recordings, and no silent skips in CI."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent
NO_RECORDINGS = "recordings absent"

settings.register_profile("default", deadline=None, max_examples=100)
settings.register_profile(
    "ci", deadline=None, max_examples=200, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(params=["asyncio", "trio"], ids=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


def _shared() -> Path:
    return Path(os.environ.get("PARTWISE_SHARED") or REPOSITORY.parent / "shared")


@pytest.fixture(scope="session")
def repository_root() -> Path:
    """The folder of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The folder of recorded provider streams; a test that needs it is skipped where it does not exist."""
    folder = _shared() / "streams"
    if not folder.is_dir():
        pytest.skip(f"{NO_RECORDINGS}: {folder} does not exist (PARTWISE_SHARED names its parent)")
    return folder


@pytest.fixture(scope="session")
def find_program() -> Callable[[str, str], str]:
    """Find a program that tests start; without it, the test is skipped, which is a failure in CI.

    The second argument is the Debian package that has it; `.ci/run` installs it.
    """

    def find(name: str, package: str) -> str:
        path = shutil.which(name)
        if path is None:
            pytest.skip(f"no {name} on this machine: apt-get install {package}")
        return path

    return find


@pytest.fixture(scope="session")
def redis_port(find_program: Callable[[str, str], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a Redis server on the loopback interface, started for the tests and empty."""
    program = find_program("redis-server", "redis-server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    folder = tmp_path_factory.mktemp("redis")
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        for line in server.stdout:
            if "Ready to accept connections" in line:
                break
        else:
            pytest.fail(f"redis-server ended with {server.wait()} before it was ready")
        yield port
        server.terminate()
        server.stdout.read()


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if not os.environ.get("CI") or report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    reason = _reason(report)
    if NO_RECORDINGS in reason and not (_shared() / "streams").is_dir():
        return
    report.outcome = "failed"
    report.longrepr = f"skipped in CI, where nothing may be missing: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    report = yield
    _forbid_skip(report)
    return report
