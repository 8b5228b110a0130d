"""When a graph fetched a batch from tf.data, from a trace that has causes."""

from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.importers import runtime_names as words
from stepscope.importers.causes import HostEvents

_NONE: Final = -1


def fetches(host: HostEvents) -> npt.NDArray[np.bool_]:
    """Which events fetch a batch for the training, and not for another stage of the pipeline."""
    step = host.stats["step_id"]
    of_stages = step[host.named(words.CAPTURED) & (step != _NONE)]
    inner = host.named(words.ITERATOR, words.CAPTURED) | np.isin(step, of_stages)
    inside: list[bool] = []
    for is_inner, above in zip(inner.tolist(), host.parent.tolist(), strict=True):
        inside.append(is_inner or (above >= 0 and inside[above]))
    found: npt.NDArray[np.bool_] = host.named(words.GET_NEXT) & ~np.array(inside, np.bool_)
    return found
