"""Recorded behaviour of the reference, run through the product.

``python -m tests.conformance FAMILY FILE.jsonl`` runs the vectors of one family. A family is a module of
this package with a function ``run(vector) -> Outcome``; see `_outcome` for the three outcomes.
"""

from ._outcome import Differs, Failed, Outcome, Passed, differs, failed, passed

__all__ = ["Differs", "Failed", "Outcome", "Passed", "differs", "failed", "passed"]
