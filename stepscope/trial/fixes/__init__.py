"""One file per fix, listed here in the order in which a ladder tries them.

A file is loaded in the user's process too: it imports the standard library, `trial/fixes`, and what
watches frameworks. What only the outside needs (analysis, advice) it imports where it is used.
"""

import importlib
from collections.abc import Set
from typing import Final

from stepscope.trial.fixes.fix import Fix

# File to the fix's name.
FILES: Final[dict[str, str]] = {
    "data.cache_result": "cache-result",
    "data.cache_samples": "cache-samples",
    "data.num_workers": "num-workers",
    "data.pin_memory": "pin-memory",
    "tensorflow.data": "tf-data",
    "tensorflow.cache": "tf-cache",
    "data.free_input": "free-input",
    "stalls.save_less_often": "save-less-often",
    "stalls.evaluate_less_often": "evaluate-less-often",
    "stalls.log_less_often": "log-less-often",
    "stalls.skip_callback": "skip-callback",
    "stalls.replay_result": "replay-result",
    "stalls.gc_freeze": "gc-freeze",
    "thread_count": "thread-count",
    "torch.compile": "compile",
    "torch.compile_dynamic": "compile-dynamic",
    "data.even_shapes": "even-shapes",
    "torch.fused_optimizer": "fused-optimizer",
    "torch.channels_last": "channels-last",
    "torch.zero_grad_none": "zero-grad-none",
    "torch.inference_mode": "inference-mode",
    "torch.cudnn_benchmark": "cudnn-benchmark",
    "torch.float32": "float32",
    "torch.tf32": "tf32",
    "torch.mixed_precision": "mixed-precision",
    "torch.loss_scaling": "mixed-precision-fp16",
    "tensorflow.function": "tf-function",
    "tensorflow.retracing": "tf-retracing",
    "tensorflow.xla": "tf-xla",
    "keras.steps_per_execution": "keras-steps-per-execution",
    "keras.mixed_precision": "tf-mixed-precision",
    "jax.jit": "jit",
    "jax.jit_once": "jit-once",
    "data.larger_batch": "larger-batch",
}
# Rooms with fixes for one framework, and the packages that a script imports it as.
_FRAMEWORKS: Final = {
    "torch": {"torch"},
    "tensorflow": {"tensorflow"},
    "keras": {"keras", "tf_keras"},
    "jax": {"jax"},
}
# Fixes for a finding beside the one that it names, which may not be what helps here.
ALSO: Final[dict[str, tuple[str, ...]]] = {
    "input-bound": ("cache-samples", "free-input"),
    "recompilation": ("jit-once",),
    "host-code": ("evaluate-less-often",),
}


def named(name: str) -> Fix:
    """The fix of this name; only its own file is loaded. A name with dots is a module of the
    user's own that ends with `FIX = ...` too."""
    file = next((file for file, fix in FILES.items() if fix == name), None)
    if file is None and "." not in name:
        raise LookupError(name)
    found: Fix = importlib.import_module(f"{__name__}.{file}" if file else name).FIX
    return found


def framework_of(name: str) -> str | None:
    """The framework that the fix is for; None: it is not for one."""
    rooms = (file.partition(".")[0] for file, fix in FILES.items() if fix == name)
    return next((room for room in rooms if room in _FRAMEWORKS), None)


def can_apply(name: str, imported: Set[str]) -> bool:
    """False: the fix is for a framework that the script does not import."""
    framework = framework_of(name)
    return framework is None or not _FRAMEWORKS[framework].isdisjoint(imported)


def every() -> list[Fix]:
    return [named(name) for name in FILES.values()]
