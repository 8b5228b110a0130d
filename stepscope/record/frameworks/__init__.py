"""What is watched in the frameworks: one file a subject, loaded when the script imports the module.

Nothing here imports a framework: a file is handed the module that the script has just loaded. What
it changes there goes through `Patches`, so that stopping takes all of it away again.
"""

import importlib
import sys
from collections.abc import Callable
from typing import Final

from stepscope.record.frameworks.patches import Patches

# The framework's module, once it is loaded, to the files here that watch it.
_WATCHERS: Final[dict[str, tuple[str, ...]]] = {
    "torch": (
        "torch_phases",
        "torch_distributed",
        "torch_saving",
        "torch_ranges",
        "logging_calls",
        "torch_ops",
    ),
    "torch.utils.data.dataloader": ("torch_input",),
    "torchdata.stateful_dataloader.stateful_dataloader": ("torch_input",),
    "torch._dynamo.callback": ("torch_compile", "torch_ops"),
    "safetensors.torch": ("torch_saving",),
    "tensorflow": ("tf_hooks", "tf_ops", "logging_calls"),
    "keras": ("keras_hooks",),
    "tf_keras": ("keras_hooks",),
    "horovod.tensorflow": ("tf_horovod",),
    "torch.utils.tensorboard.writer": ("logging_calls",),
    "lightning.pytorch": ("lightning_hooks",),
    "pytorch_lightning": ("lightning_hooks",),
    "transformers.trainer": ("transformers_hooks",),
    "transformers.trainer_callback": ("transformers_hooks",),
    "jax": (
        "jax_stand_in",
        "jax_compile",
        "jax_jit",
        "jax_grad",
        "jax_arrays",
        "jax_ops",
    ),
    "optax": ("jax_optax",),
    "wandb": ("logging_calls",),
    "mlflow": ("logging_calls",),
}
WATCHED: Final = frozenset(_WATCHERS)

_patches = Patches()
_installed: set[tuple[str, str]] = set()
_note: Callable[[str], object] = print


def install(note: Callable[[str], object]) -> None:
    """Watch what is loaded already. `note`: where trouble is told."""
    global _note
    _note = note
    for name in WATCHED:
        watch(name)


def watch(name: str) -> None:
    """To be called when the module `name` has been loaded. Again, or without it, does nothing."""
    module = sys.modules.get(name)
    if module is None or getattr(getattr(module, "__spec__", None), "_initializing", False):
        return
    for watcher in _WATCHERS.get(name, ()):
        if (name, watcher) not in _installed:
            _installed.add((name, watcher))
            _watch(watcher, name)


def _watch(watcher: str, name: str) -> None:
    """A version of the framework that lacks something costs that something, and no more."""
    ours = importlib.import_module(f"{__name__}.{watcher}")
    try:
        ours.install(sys.modules[name], _patches)
    except Exception as error:
        _note(f"{name} is not watched as it should be ({watcher}: {error!r}).")


def uninstall() -> None:
    _patches.undo()
    _installed.clear()
