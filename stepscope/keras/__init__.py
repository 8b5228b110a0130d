"""`model.fit(callbacks=[stepscope.keras.Callback("logs")])`: records some training batches.

The only place that imports Keras; `stepscope run` does not need it.
"""

from stepscope.keras.callback import Callback

__all__ = ["Callback"]
