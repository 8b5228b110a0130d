"""The profiler for a trainer."""

import os
from types import TracebackType
from typing import Any, Final, Literal

from stepscope.errors import InputError
from stepscope.lightning.advanced import Advanced
from stepscope.lightning.operators import Operators
from stepscope.lightning.package import base_profiler
from stepscope.lightning.simple import Simple

Mode = Literal["simple", "advanced", "pytorch"]
_MODES: Final = ("simple", "advanced", "pytorch")
_Base: Any = base_profiler()


class Profiler(_Base):  # type: ignore[misc]  # from one of two packages, known at run time
    """How long the actions of a training take: their times (`simple`), the functions in them
    (`advanced`), or the operators of a few steps (`pytorch`).

    The report is printed when the trainer ends, and written to `{stage}-{filename}.txt` in
    `dirpath`, which is the trainer's log folder unless given. `line_count_restriction`: how many
    functions or operators are listed, or which share of them.
    """

    def __init__(
        self,
        mode: Mode = "simple",
        dirpath: str | os.PathLike[str] | None = None,
        filename: str | None = None,
        line_count_restriction: float = 20,
    ) -> None:
        super().__init__(dirpath=dirpath, filename=filename or f"stepscope-{mode}")
        self._made_with = mode, dirpath, filename, line_count_restriction
        self._is_reported = False
        self.mode = mode
        self._counts = _counts_of(mode, line_count_restriction)

    def setup(self, stage: str, local_rank: int | None = None, log_dir: str | None = None) -> None:
        super().setup(stage=stage, local_rank=local_rank, log_dir=log_dir)
        if isinstance(self._counts, Operators):
            self._counts.restart(stage)

    def start(self, action_name: str) -> None:
        if self._is_reported:  # and the trainer starts again
            self._is_reported = False
            self._counts.restart()
        self._counts.start(action_name)

    def stop(self, action_name: str) -> None:
        self._counts.stop(action_name)

    def profile(self, action_name: str) -> "_Profiled":
        return _Profiled(self, action_name)

    def summary(self) -> str:
        stage = f"{self._stage.upper()} " if self._stage else ""
        return f"{stage}Profiler Report\n\n{self._counts.text()}\n"

    def describe(self) -> None:
        summary = self.summary()
        self._rank_zero_info(summary)
        if self.dirpath:
            self._prepare_streams()
            self._write_stream(summary)
        self._is_reported = True
        self.teardown(stage=self._stage)

    def __reduce__(self) -> tuple[Any, ...]:
        """For a trainer that starts processes: each of them has its own counts."""
        return type(self), self._made_with


def _counts_of(mode: str, line_count_restriction: float) -> Simple | Advanced | Operators:
    if mode == "simple":
        return Simple()
    if mode == "advanced":
        return Advanced(line_count_restriction)
    if mode == "pytorch":
        return Operators(line_count_restriction)
    raise InputError(f"There is no mode '{mode}'. There are: {', '.join(_MODES)}.")


class _Profiled:
    """`with profiler.profile("augment"):`, without an extra frame around the profiled code."""

    def __init__(self, profiler: Profiler, action: str) -> None:
        self._profiler = profiler
        self._action = action

    def __enter__(self) -> str:
        self._profiler.start(self._action)
        return self._action

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._profiler.stop(self._action)
