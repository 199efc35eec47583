"""`partwise bench`: partwise beside its peers, on one's own machine and sizes."""

from ._options import BenchOptions, bench_options, declare_bench

__all__ = ["BenchOptions", "bench_options", "declare_bench"]
