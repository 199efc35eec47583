"""What all tests share: both async backends, Hypothesis profiles, recordings, and no silent skips in CI."""

from __future__ import annotations

import os
from collections.abc import Iterator
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
