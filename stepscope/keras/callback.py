"""The callback for `fit`."""

import glob
import os
import shutil
import socket
import sys
import time
import warnings
from typing import Any, Final

from stepscope.errors import InputError
from stepscope.keras.package import base_callback
from stepscope.record import recording
from stepscope.record.profiler import Profiler
from stepscope.signal_handlers import let_pass, suppressed
from stepscope.store.plain_files import exists, make_new_folder

_Base: Any = base_callback()
_FORMS: Final = "two numbers, (2, 20), or one"
_FIRST: Final = (
    "profile_batch={} includes the first batch, which also builds and compiles the model: its time "
    "says little about the others. Begin with 2 or later."
)


class Callback(_Base):  # type: ignore[misc]  # from one of two packages, known at run time
    """Records the batches from the first to the last of `profile_batch`, both included, into its
    own run folder below `log_dir`.

    Batches are counted from 1 over all epochs; 0 records none. `tensorboard`: also put the
    operators where TensorBoard's profile plugin looks for them, in `log_dir`. Other options are
    those of `stepscope.Profiler`. Inside `stepscope run` everything is recorded anyway.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        profile_batch: Any = (2, 20),
        *,
        logs_dir: str | os.PathLike[str] | None = None,
        tensorboard: bool = False,
        verbose: bool = True,
        **options: Any,
    ) -> None:
        super().__init__()
        if log_dir is not None and logs_dir is not None:
            raise InputError("log_dir and logs_dir are two names of one folder: give one of them.")
        self.log_dir = os.path.abspath(os.fspath(log_dir or logs_dir or "logs"))
        self.first, self.last = _batches(profile_batch)
        if self.first == 1:
            warnings.warn(_FIRST.format(profile_batch), stacklevel=2)
        self._tensorboard = tensorboard
        self._verbose = verbose
        self._options = options
        Profiler(None, **options)  # raises now if they are wrong
        self._profiler: Profiler | None = None
        self._is_ours = False
        self._is_done = self.last == 0
        self._before = 0  # batches in earlier epochs
        self._batch = 0  # batches of this epoch that have begun
        self.run_folder: str | None = None

    # tf_keras needs these, whichever package our base class is from.
    _supports_tf_logs = True

    def _implements_train_batch_hooks(self) -> bool:
        return True

    def _implements_test_batch_hooks(self) -> bool:
        return False

    def _implements_predict_batch_hooks(self) -> bool:
        return False

    def on_train_begin(self, logs: Any = None) -> None:
        self._before = self._batch = 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._before, self._batch = self._before + self._batch, 0

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """A batch ends when the next one begins: we define no `on_train_batch_end`, so that Keras
        can still call others' on another thread."""
        self._batch = int(batch) + 1
        number = self._before + self._batch
        if self._profiler is not None and number > self.last:
            self._stop()
        elif self._profiler is None and not self._is_done and self.first <= number <= self.last:
            self._start()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        steps = (self.params or {}).get("steps")
        if isinstance(steps, int) and self._batch <= steps:
            self._batch = steps  # Keras may run several batches in one call
        if self._profiler is not None and self._before + self._batch >= self.last:
            self._stop()

    def on_train_end(self, logs: Any = None) -> None:
        self._stop()

    def _start(self) -> None:
        self._is_done = True
        profiler = Profiler(_new_folder(self.log_dir), **self._options)
        self._is_ours = recording.current is None  # else everything is being recorded already
        try:
            profiler.start()
        except Exception as error:  # the training goes on
            let_pass(error)
            warnings.warn(f"stepscope could not record: {error}", stacklevel=2)
            return
        self._profiler, self.run_folder = profiler, profiler.folder

    def _stop(self) -> None:
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        profiler.stop()
        if not self._is_ours:
            return
        if self._tensorboard:
            self._give_to_tensorboard()
        if self._verbose:
            result = f"batches {self.first} to {self.last} are in {self.run_folder}"
            print(f"stepscope: {result}; see 'stepscope show {self.run_folder}'", file=sys.stderr)

    def _give_to_tensorboard(self) -> None:
        """plugins/profile/<run>/<host>.xplane.pb"""
        assert self.run_folder is not None
        name = os.path.basename(self.run_folder)
        folder = os.path.join(self.log_dir, "plugins", "profile", name)
        traces = sorted(glob.glob(os.path.join(glob.escape(self.run_folder), "*/ops-*.xplane.pb")))
        if not traces:
            warnings.warn(
                "There are no operators for TensorBoard: record eight batches or more.",
                stacklevel=2,
            )
            return
        with suppressed(FileExistsError):
            make_new_folder(folder)
        shutil.copyfile(traces[0], os.path.join(folder, f"{socket.gethostname()}.xplane.pb"))


def _batches(wanted: Any) -> tuple[int, int]:
    """(first, last), counted from 1; zeros: none."""
    if isinstance(wanted, str):
        wanted = wanted.split(",")
    try:
        numbers = [int(number) for number in wanted] if not isinstance(wanted, int) else [wanted]
    except (TypeError, ValueError) as error:
        raise InputError(f"profile_batch={wanted!r} is not a batch range: {_FORMS}.") from error
    if numbers in ([0], [0, 0]):
        return 0, 0
    first, last = numbers if len(numbers) == 2 else (numbers * 2)[:2] if numbers else (0, 0)
    if len(numbers) not in (1, 2) or not 1 <= first <= last:
        raise InputError(f"profile_batch={wanted!r} is not a batch range: {_FORMS}.")
    return first, last


def _new_folder(log_dir: str) -> str:
    base = os.path.join(log_dir, f"stepscope-{time.strftime('%Y%m%d-%H%M%S')}")
    folder, number = base, 2
    while exists(folder):
        folder, number = f"{base}-{number}", number + 1
    return folder
