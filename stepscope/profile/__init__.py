"""cProfile's interface on stepscope's engine: `import stepscope.profile as cProfile` is the only
line to change."""

import sys
from types import ModuleType
from typing import TypeVar

from stepscope.profile.profiler import Profile
from stepscope.profile.running import run, runctx

__all__ = ["Profile", "run", "runctx"]

F = TypeVar("F")


class _ModuleAndDecorator(ModuleType):
    """`stepscope.profile` is also the decorator of that name, even after this module is loaded."""

    def __call__(self, function: F) -> F:
        from stepscope.record.engines.decorator import profile

        return profile(function)


sys.modules[__name__].__class__ = _ModuleAndDecorator
