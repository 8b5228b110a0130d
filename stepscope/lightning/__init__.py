"""`Trainer(profiler=stepscope.lightning.Profiler("simple"))`: a profiler for Lightning's trainers.

The only place that imports Lightning; `stepscope run` does not need it.
"""

from stepscope.lightning.profiler import Profiler

__all__ = ["Profiler"]
