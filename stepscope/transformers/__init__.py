"""`Trainer(callbacks=[stepscope.transformers.Callback()])`: records a training of Hugging Face's.

The only place that imports transformers; `stepscope run` does not need it.
"""

from stepscope.transformers.callback import Callback

__all__ = ["Callback"]
