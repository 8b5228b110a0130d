"""The callback for a trainer: records its training."""

from typing import Any

from stepscope.lightning.package import base_callback
from stepscope.record.whole_training import WholeTraining

_Base: Any = base_callback()


class Callback(_Base):  # type: ignore[misc]  # from one of two packages, known at run time
    """Records `fit` into the run folder `run`, or into a new one below stepscope-runs.

    Options are those of `stepscope.Profiler`; `log=True` adds the results to the run that the
    trainer's logger has open. With several ranks, the first one is recorded.
    """

    def __init__(self, run: str | None = None, **options: Any) -> None:
        super().__init__()
        self._training = WholeTraining(run, options)

    @property
    def run_folder(self) -> str | None:
        return self._training.folder

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        if trainer.is_global_zero:
            self._training.start()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._training.stop()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._training.stop()
