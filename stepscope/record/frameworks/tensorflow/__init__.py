"""TensorFlow, and Horovod with it.

Phases: forward, backward and sync of what runs eagerly, compute of graph functions, input,
communication, tracing with its cause, checkpoints, summaries. Steps: a function that trains, called
again and again. Windows: operators under TensorFlow's profiler. Notes: functions traced again.
"""

from stepscope.typed import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "tensorflow": ("hooks", "operators", "losses"),
    "horovod.tensorflow": ("horovod",),
}
