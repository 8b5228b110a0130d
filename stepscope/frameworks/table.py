"""All frameworks, and the wording if the framework is not known."""

from typing import Final

from stepscope.frameworks.facts import Advice, Words
from stepscope.frameworks.jax import JAX
from stepscope.frameworks.tensorflow import KERAS, TENSORFLOW
from stepscope.frameworks.torch import LIGHTNING, TORCH, TRANSFORMERS

TESTED_ON_PYTHON: Final = (3, 11)
FRAMEWORKS: Final = (TORCH, TENSORFLOW, KERAS, JAX, LIGHTNING, TRANSFORMERS)
_WORDS: Final = {each.module: each.words for each in FRAMEWORKS if each.words is not None}
COMPUTING: Final = tuple(_WORDS)  # those whose operators compute
_UNKNOWN: Final = Words(
    eager=Advice("Compile the step as a whole, so that its operators are launched together."),
    short_kernels="A larger batch makes the same kernels work longer; if the batch size is fixed, "
    "compile the step as a whole.",
    idle_device="Give it more at a time: a larger batch, a step that is compiled as a whole "
    "against launch overhead, loading ahead against waiting for input, and no reading of results "
    "in the step.",
    mixed_precision=Advice("Mixed precision: 16 bits for matrix products and convolutions."),
    waiting_for_input=Advice("Load ahead of the step, in other processes or threads."),
    pageable_copy=Advice("Copy from pinned memory, while the step before computes."),
    waiting_for_device="Keep results on the device: read the loss every N steps.",
    exposed_collectives="Fewer and larger pieces, gradients in 16 bits, or several batches for "
    "each exchange.",
    exposed_between_ranks="Send gradients while the backward pass runs, less often, in fewer "
    "and larger pieces, or in 16 bits.",
    recompilation=Advice("declare the dimension dynamic"),
    memory_growth="Keep numbers, not arrays",
    float32=Advice("Make data and model 32 bits: NumPy makes 64 bits by default."),
    threads="",
)


def words_of(module: str | None) -> Words:
    return _WORDS.get(module or "", _UNKNOWN)


def packages() -> tuple[str, ...]:
    return tuple(name for each in FRAMEWORKS for name in each.packages)


def folders(*modules: str) -> tuple[str, ...]:
    """The folders of these frameworks; of all, if none is given."""
    chosen = [each for each in FRAMEWORKS if not modules or each.module in modules]
    return tuple(folder for each in chosen for folder in each.folders)
