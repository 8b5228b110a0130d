"""`Trainer(profiler=stepscope.lightning.Profiler("simple"))`: a profiler for Lightning's trainers;
`Trainer(callbacks=[stepscope.lightning.Callback()])`: records a training.

The only place that imports Lightning; `stepscope run` does not need it.
"""

from stepscope.lightning.callback import Callback
from stepscope.lightning.profiler import Profiler

__all__ = ["Callback", "Profiler"]
