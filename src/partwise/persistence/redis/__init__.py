"""Resumable streams in Redis, for servers of several processes; needs the extra ``redis``."""

from ._store import RedisStreamStore

__all__ = ["RedisStreamStore"]
