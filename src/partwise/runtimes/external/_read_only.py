"""Threads that can only be looked at: a fixed conversation, and an empty place until there is one."""

from __future__ import annotations

from collections.abc import Iterable

from partwise.reactive import ErrorHook, log_error

from ._runtime import ExternalStoreRuntime

__all__ = ["empty_runtime", "read_only_runtime"]


def read_only_runtime(messages: Iterable[object], *, on_error: ErrorHook = log_error) -> ExternalStoreRuntime:
    """Show messages, or anything message-like, that nothing can be done with but to read, copy and export them.

    Every command raises ``UnsupportedError``, or returns an operation that does, and changes nothing.
    """
    return ExternalStoreRuntime(tuple(messages), is_running=False, is_send_disabled=True, on_error=on_error)


def empty_runtime(*, on_error: ErrorHook = log_error) -> ExternalStoreRuntime:
    """Hold the place of a thread that is still to come: it is loading, and takes nothing."""
    return ExternalStoreRuntime(
        (), is_loading=True, is_send_disabled=True, can_copy=False, is_running=False, on_error=on_error
    )
