"""Graphs of LangGraph as owners of a thread; needs the extra ``langgraph``."""

from ._agent import LangGraphAgent

__all__ = ["LangGraphAgent"]
