"""An assistant without a language model: rules that understand a few requests, and tools that do them."""

from ._model import rules_model
from ._tools import folder_tools

__all__ = ["folder_tools", "rules_model"]
