"""The callback for Hugging Face's Trainer: records its training."""

import importlib
from typing import Any

from stepscope.record.whole_training import WholeTraining

_Base: Any = importlib.import_module("transformers").TrainerCallback


class Callback(_Base):  # type: ignore[misc]  # the package has no type hints everywhere
    """Records `train` into the run folder `run`, or into a new one below stepscope-runs.

    Options are those of `stepscope.Profiler`; `log=True` adds the results to the run that the
    Trainer reports to. With several ranks, the first one is recorded.
    """

    def __init__(self, run: str | None = None, **options: Any) -> None:
        self._training = WholeTraining(run, options)

    @property
    def run_folder(self) -> str | None:
        return self._training.folder

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self._training.start()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._training.stop()
