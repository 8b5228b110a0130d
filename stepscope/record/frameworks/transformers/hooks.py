"""Hugging Face's Trainer: its steps, and evaluation, saving and logging as phases.

We watch the methods that call the callbacks: the script's own list of callbacks stays as it is, and
a trainer that was made before the recording is seen as well.
"""

from typing import Any, Final

from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.training_batches import Batches
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_CALLBACKS: Final = {
    "on_evaluate": SpanCategory.EVALUATION,
    "on_predict": SpanCategory.EVALUATION,
    "on_save": SpanCategory.CHECKPOINT,
    "on_log": SpanCategory.LOGGING,
}
_TRAINER: Final = {
    "evaluate": SpanCategory.EVALUATION,
    "predict": SpanCategory.EVALUATION,
    "evaluation_loop": SpanCategory.EVALUATION,
    "_save_checkpoint": SpanCategory.CHECKPOINT,
    "save_model": SpanCategory.CHECKPOINT,
    "log": SpanCategory.LOGGING,
}

_batches: Final = Batches("Hugging Face's Trainer")


def install(module: Any, patches: Patches) -> None:
    """`module`: transformers.trainer_callback or transformers.trainer."""
    if module.__name__ == "transformers.trainer":
        for name, category in _TRAINER.items():
            patches.phase(module.Trainer, name, category, f"Trainer.{name.lstrip('_')}")
        _watch_samples(module.Trainer, patches)
        return
    handler = module.CallbackHandler
    for name, category in _CALLBACKS.items():
        patches.phase(handler, name, category, name)
    _watch_steps(handler, patches)


def _watch_steps(handler: Any, patches: Patches) -> None:
    """Called when the optimizer has stepped: batches that were accumulated are part of it."""
    patches.follow(handler, "on_step_end", lambda *_args, **_kwargs: _batches.step_ended())


def _watch_samples(trainer: Any, patches: Patches) -> None:
    def begins(_trainer: Any, model: Any, inputs: Any, *_args: Any, **_kwargs: Any) -> None:
        if naming.name_id is not None:
            _batches.add(inputs)

    patches.watch(trainer, "training_step", begins)
