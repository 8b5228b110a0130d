"""A recording that callbacks of trainers start and stop: trouble is a warning, never an error."""

import sys
import warnings
from typing import Any

from stepscope.record import recording
from stepscope.record.profiler import Profiler
from stepscope.signal_handlers import let_pass


class WholeTraining:
    """From the first `start` to the `stop` after it. Inside `stepscope run` it does nothing:
    everything is being recorded already."""

    def __init__(self, run: str | None, options: dict[str, Any]) -> None:
        self._made_with = run, options
        self._is_ours = False
        self._profiler = Profiler(run, **options)  # raises now if they are wrong

    @property
    def folder(self) -> str | None:
        return self._profiler.folder

    def start(self) -> None:
        run, options = self._made_with
        self._profiler = Profiler(run, **options)
        self._is_ours = recording.current is None
        try:
            self._profiler.start()
        except Exception as error:  # the training goes on
            let_pass(error)
            self._is_ours = False
            warnings.warn(f"stepscope could not record: {error}", stacklevel=3)

    def stop(self) -> None:
        self._profiler.stop()
        if self._is_ours:
            self._is_ours = False
            words = f"the training is in {self.folder}; see 'stepscope show {self.folder}'"
            print(f"stepscope: {words}", file=sys.stderr)
