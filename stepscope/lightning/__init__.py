"""`Trainer(profiler=stepscope.lightning.Profiler("simple"))`: a profiler for Lightning's trainers.

The one place that imports Lightning; `stepscope run` needs nothing of it.
"""

from stepscope.lightning.profiler import Profiler

__all__ = ["Profiler"]
