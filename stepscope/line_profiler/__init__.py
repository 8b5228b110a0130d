"""line_profiler's interface on stepscope's line engine: `from stepscope.line_profiler import
LineProfiler` is the only line to change."""

from stepscope.line_profiler.profiler import LineProfiler
from stepscope.line_profiler.stats import LineStats, load_stats

__all__ = ["LineProfiler", "LineStats", "load_stats"]
