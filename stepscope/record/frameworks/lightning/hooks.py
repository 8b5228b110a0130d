"""Lightning: its training batches are the steps; evaluation, saving and logging are phases."""

import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.lightning import actions
from stepscope.record.frameworks.watching import notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import do_nothing
from stepscope.record.frameworks.watching.training_batches import Batches, end_input
from stepscope.record.names import naming
from stepscope.signal_handlers import let_pass
from stepscope.store.format import SpanCategory

# They are called when a checkpoint is due; what they remove and link is part of it.
_SAVING: Final = ("_save_topk_checkpoint", "_save_last_checkpoint")
_LONGEST_MESSAGE: Final = 300  # characters
_LOGGING: Final = ("log_metrics", "log_hyperparams", "log_graph", "save", "finalize")
_MODULES_LOG: Final = ("log", "log_dict")


def install(lightning: Any, patches: Patches) -> None:
    """`lightning`: lightning.pytorch or pytorch_lightning."""
    loops = f"{lightning.__name__}.loops"
    batches = Batches("Lightning")
    _watch_batches(sys.modules[f"{loops}.training_epoch_loop"]._TrainingEpochLoop, batches, patches)
    _watch_evaluation(sys.modules[f"{loops}.evaluation_loop"]._EvaluationLoop, patches)
    _watch_evaluation(sys.modules[f"{loops}.prediction_loop"]._PredictionLoop, patches)
    _watch_input(sys.modules[f"{loops}.fetchers"]._DataFetcher, patches)
    patches.phase(lightning.Trainer, "save_checkpoint", SpanCategory.CHECKPOINT, "save_checkpoint")
    for name in _SAVING:
        patches.phase(
            lightning.callbacks.ModelCheckpoint, name, SpanCategory.CHECKPOINT, "ModelCheckpoint"
        )
    for name in _MODULES_LOG:
        patches.phase(lightning.LightningModule, name, SpanCategory.LOGGING, f"self.{name}")
    _watch_trainers(lightning, actions.install(lightning, patches), patches)
    _watch_errors(sys.modules[f"{lightning.__name__}.trainer.call"], patches)


# --- steps ----------------------------------------------------------------------------------------


def _watch_batches(loop: Any, batches: Batches, patches: Patches) -> None:
    """A batch after which an optimizer has stepped ends a step: accumulated ones are part of it,
    and several optimizers of one batch make one."""

    def begins(epoch: Any, /, *_args: Any, **_kwargs: Any) -> tuple[Any, int] | None:
        return (epoch, epoch.global_step) if naming.name_id is not None else None

    def ended(begun: tuple[Any, int], _result: Any) -> None:
        epoch, steps = begun
        if epoch.global_step > steps:
            batches.step_ended()

    patches.watch(loop, "advance", begins, ended, failed=do_nothing)
    _watch_samples(loop, batches, patches)


def _watch_samples(loop: Any, batches: Batches, patches: Patches) -> None:
    """Where training batches, and only those, are prepared for their step."""

    def begins(_epoch: Any, _kwargs: Any, batch: Any, /, *_rest: Any) -> None:
        if naming.name_id is not None:
            batches.add(batch)

    if hasattr(loop, "_build_kwargs"):
        patches.watch(loop, "_build_kwargs", begins)


def _watch_input(fetcher: Any, patches: Patches) -> None:
    """Torch's loaders report their own waits; waits for other iterables are recorded here."""

    def begins(batches: Any, /) -> int | None:
        if naming.name_id is None or _is_torchs(batches):
            return None
        return _core.span_begin(naming.name_id("batches"), SpanCategory.INPUT)

    patches.watch(fetcher, "__next__", begins, end_input)


def _is_torchs(fetcher: Any) -> bool:
    try:
        torchs = sys.modules["torch.utils.data"].DataLoader
        return all(isinstance(loader, torchs) for loader in fetcher.combined_loader.flattened)
    except Exception as error:  # an unknown kind of fetcher: leave it to the loaders
        let_pass(error)
        return True


# --- evaluation -----------------------------------------------------------------------------------


def _watch_evaluation(loop: Any, patches: Patches) -> None:
    def begins(running: Any, /, *_args: Any, **_kwargs: Any) -> int | None:
        if naming.name_id is None:
            return None
        return _core.span_begin(naming.name_id(_stage(running)), SpanCategory.EVALUATION)

    patches.watch(loop, "run", begins)


def _stage(loop: Any) -> str:
    """Lightning's name for it: sanity_check, validate, test, predict."""
    return str(getattr(loop.trainer.state.stage, "value", "evaluation"))


# --- trainers -------------------------------------------------------------------------------------


def _watch_trainers(
    lightning: Any, watch_profiler: Callable[[type], None], patches: Patches
) -> None:
    """The classes of profiler, loggers and progress bars are known when a trainer begins."""
    methods = _Methods(patches, base_classes=(lightning.Callback, lightning.callbacks.ProgressBar))

    def begins(trainer: Any, /, *_args: Any, **_kwargs: Any) -> None:
        if naming.name_id is None:
            return
        try:
            watch_profiler(type(trainer.profiler))
            for logger in trainer.loggers:
                methods.watch(type(logger), _LOGGING)
            for callback in trainer.callbacks:
                if isinstance(callback, lightning.callbacks.ProgressBar):
                    methods.watch(type(callback), _hooks_of(type(callback)))
        except Exception as error:  # the training continues with what is watched
            let_pass(error)
            notes.note(f"Lightning's trainer is not watched completely: {error!r}.")

    patches.watch(lightning.Trainer, "_run", begins)


def _hooks_of(callback: type) -> list[str]:
    return [name for name in dir(callback) if name.startswith("on_")]


class _Methods:
    """Methods whose time is logging, each once, in the class that defines them.

    `base_classes`: their methods do nothing."""

    def __init__(self, patches: Patches, base_classes: tuple[type, ...]) -> None:
        self._patches = patches
        self._done: set[tuple[type, str]] = set()
        self._base_classes = base_classes

    def watch(self, kind: type, names: Iterable[str]) -> None:
        for name in names:
            owner = next((owner for owner in kind.__mro__ if name in vars(owner)), object)
            if owner in self._base_classes or owner is object or (owner, name) in self._done:
                continue
            self._done.add((owner, name))
            if isinstance(vars(owner)[name], FunctionType):
                label = f"{kind.__name__}.{name}"
                self._patches.phase(owner, name, SpanCategory.LOGGING, label)


# --- errors ---------------------------------------------------------------------------------------


def _watch_errors(call: Any, patches: Patches) -> None:
    """Note in the run what ended a training, and where."""

    def begins(_trainer: Any, exception: BaseException, /) -> None:
        if naming.name_id is not None:
            notes.note(_ending(exception))

    patches.watch(call, "_interrupt", begins)


def _ending(error: BaseException) -> str:
    words = [f"The training ended with {type(error).__name__}"]
    try:
        words.append(f": {' '.join(str(error).split())[:_LONGEST_MESSAGE]}")
    except Exception as trouble:  # str() of the script's own error may fail
        let_pass(trouble)
        words.append("")
    where = ""
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if _core.lines_is_registered(code):
            where = f", in {code.co_qualname} ({code.co_filename}:{traceback.tb_lineno})"
        traceback = traceback.tb_next
    return f"{''.join(words).rstrip(': ')}{where}."
