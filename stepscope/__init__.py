"""stepscope: find out why training is slow, and prove the fix.

`stepscope run train.py` needs none of these names; they mark what it cannot see on its own.
"""

__version__ = "0.2.0"
__all__ = ["LineProfiler", "Profile", "Profiler", "Run", "profile", "region", "step", "steps"]

TYPE_CHECKING = False  # importing typing would cost more than this whole module
if TYPE_CHECKING:
    from typing import Any

    from stepscope.line_profiler import LineProfiler
    from stepscope.profile import Profile
    from stepscope.record.engines.decorator import profile
    from stepscope.record.profiler import Profiler
    from stepscope.record.steps.marks import region, step, steps
    from stepscope.run_object import Run

_HOME = {
    "LineProfiler": "stepscope.line_profiler",
    "Profile": "stepscope.profile",
    "Profiler": "stepscope.record.profiler",
    "Run": "stepscope.run_object",
    "profile": "stepscope.record.engines.decorator",
    "region": "stepscope.record.steps.marks",
    "step": "stepscope.record.steps.marks",
    "steps": "stepscope.record.steps.marks",
}


def __getattr__(name: str) -> "Any":
    """Names are loaded when first used: `import stepscope` itself costs next to nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'stepscope' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def load_ipython_extension(shell: "Any") -> None:
    """`%load_ext stepscope`."""
    from stepscope import ipython

    ipython.load(shell)


def unload_ipython_extension(shell: "Any") -> None:
    from stepscope import ipython

    ipython.unload(shell)
