"""`model.fit(callbacks=[stepscope.keras.Callback("logs")])`: records some batches of a training.

The one place that imports Keras; `stepscope run` needs nothing of it.
"""

from stepscope.keras.callback import Callback

__all__ = ["Callback"]
