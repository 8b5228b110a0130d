"""Removes a hook from torch's lists without disturbing a loop over them.

Torch calls an optimizer's hooks in a loop over an ordered dict. Removing an entry meanwhile ends
that loop with an error, in the middle of the training. A recording may end right there, after a
given number of steps. Then the entry stays, and does nothing.
"""

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from stepscope.record.frameworks.watching.timed_calls import do_nothing

_WITH_THE_LOOP: Final = os.path.join("torch", "optim", "optimizer.py")


def replace(handle: Any, hook: Callable[..., Any]) -> None:
    hooks = handle.hooks_dict_ref()
    if hooks is not None and handle.id in hooks:
        hooks[handle.id] = hook


def take_out(handle: Any) -> None:
    hooks = handle.hooks_dict_ref()
    if hooks is None or handle.id not in hooks:
        return
    if any(_is_stepping(frame) for frame in sys._current_frames().values()):
        hooks[handle.id] = do_nothing
    else:
        handle.remove()


def _is_stepping(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.endswith(_WITH_THE_LOOP):
            return True
        frame = frame.f_back
    return False
