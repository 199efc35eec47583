"""A chat model of LangChain that plays a script."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import ConfigDict

from partwise.testing import Script


class ScriptedChat(BaseChatModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    script: Script

    @property
    def _llm_type(self) -> str:
        return "script"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        stream = self.script.pieces(str(messages[-1].content))
        try:
            async for piece in stream:
                yield ChatGenerationChunk(message=AIMessageChunk(piece))
        finally:
            await stream.aclose()
