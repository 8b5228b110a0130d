"""Keras: the loss that it reports for each batch, with --losses.

Within an epoch that is the mean over the batches so far. With torch as its backend, each backward
has the loss of its batch, which is recorded there.
"""

import functools
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.keras.package import Package
from stepscope.record.frameworks.watching import losses, notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import leave_out_this_frame
from stepscope.record.names import naming
from stepscope.store.format import LossFlag

_LOSS: Final = "loss"
_ON_BATCH: Final = "train_on_batch"
_guarded: Final = notes.guard("A loss was not recorded")


def install(keras: Any, patches: Patches) -> None:
    losses.when_wanted(lambda: _watch(Package(keras), patches))


def _watch(package: Package, patches: Patches) -> None:
    if not package.is_too_old and package.backend != "torch":
        _watch_batches(package.callback_list, patches)
        for name in ("fit", _ON_BATCH, "evaluate", "test_on_batch"):
            _watch_calls(package.trainer, name, patches)


def _watch_batches(callbacks: Any, patches: Patches) -> None:
    before = callbacks.on_train_batch_end

    @functools.wraps(before)
    def on_train_batch_end(self: Any, batch: Any, logs: Any = None) -> Any:
        if naming.name_id is not None:
            _guarded(_keep, "fit", _core.ticks(), logs)
        try:
            return before(self, batch, logs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise

    patches.set(callbacks, "on_train_batch_end", on_train_batch_end)


def _watch_calls(trainer: Any, name: str, patches: Patches) -> None:
    """What it calls reports no losses: its steps are functions too, and so are its evaluations."""
    before = vars(trainer).get(name)
    if before is None:
        return

    @functools.wraps(before)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        at_ticks, around = _core.ticks(), losses.here.is_reported
        losses.here.is_reported = True
        try:
            result = before(self, *args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            losses.here.is_reported = around
        if name == _ON_BATCH and naming.name_id is not None:
            _guarded(_keep, name, at_ticks, result)
        return result

    patches.set(trainer, name, run)


def _keep(label: str, at_ticks: int, reported: Any) -> None:
    if isinstance(reported, dict) and _LOSS in reported:  # beside those of the model's outputs
        found = [reported[_LOSS]]
    elif isinstance(reported, list):  # the loss, then the metrics
        found = reported[:1]
    else:
        found = losses.found_in(reported)
    for value in found:
        losses.keep(label, at_ticks, value, LossFlag.RUNNING_MEAN)
