"""The profiler for a trainer."""

import functools
import importlib
import os
import pathlib
import warnings
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Literal

from stepscope.errors import InputError
from stepscope.lightning.advanced import Advanced
from stepscope.lightning.operator_settings import operator_settings
from stepscope.lightning.operators import Operators
from stepscope.lightning.package import base_profiler, filesystem_of, module_names
from stepscope.lightning.simple import Simple
from stepscope.profile.profiler import Profile
from stepscope.signal_handlers import let_pass

Mode = Literal["simple", "advanced", "pytorch"]
_MODES: Final = ("simple", "advanced", "pytorch")
_OPTIONS: Final = {"simple": "extended", "advanced": "dump_stats"}  # pytorch has many
_NOT_HERE: Final = "A Profiler has {} in the mode '{}' only."
_Base: Any = base_profiler()


class Profiler(_Base):  # type: ignore[misc]  # from one of two packages, known at run time
    """How long the actions of a training take: their times (`simple`), the functions in them
    (`advanced`), or the operators of a few steps (`pytorch`).

    The report is printed when the trainer ends, and written to `{stage}-{filename}.txt` in
    `dirpath`, which is the trainer's log folder unless given. `line_count_restriction`: how many
    functions or operators are listed, or which share of them.

    simple: `extended=False` leaves out calls and percentages. advanced: `dump_stats` writes a
    `.prof` file for each action. pytorch: the options of Lightning's PyTorchProfiler (`schedule`,
    `export_to_chrome`, `row_limit`, `sort_by_key`, `group_by_input_shapes`, `table_kwargs`,
    `record_module_names`) and those of torch.profiler.profile.
    """

    def __init__(
        self,
        mode: Mode = "simple",
        dirpath: str | os.PathLike[str] | None = None,
        filename: str | None = None,
        line_count_restriction: float = 20,
        **options: Any,
    ) -> None:
        folder = dirpath if dirpath is None or isinstance(dirpath, str) else pathlib.Path(dirpath)
        super().__init__(dirpath=folder, filename=filename)
        self._made_with = (mode, folder, filename, line_count_restriction), options
        self._options = options
        self._is_reported = False
        self._started: set[str] = set()
        self._lightning_module: Any = None  # the trainer sets it
        self.mode = mode
        self._counts = self._new_counts(line_count_restriction)

    def _new_counts(self, line_count_restriction: float) -> Simple | Advanced | Operators:
        if self.mode not in _MODES:
            raise InputError(f"There is no mode '{self.mode}'. There are: {', '.join(_MODES)}.")
        _require_fitting(self.mode, self._options)
        if self.mode == "simple":
            return Simple(self._options.get("extended", True))
        if self.mode == "advanced":
            return Advanced(line_count_restriction)
        return Operators(operator_settings(line_count_restriction, self._options), self)

    # --- what the trainer calls ---------------------------------------------------------------

    def setup(self, stage: str, local_rank: int | None = None, log_dir: str | None = None) -> None:
        super().setup(stage=stage, local_rank=local_rank, log_dir=log_dir)
        if isinstance(self._counts, Operators):
            self._counts.restart()

    def start(self, action_name: str) -> None:
        if self._is_reported:  # and the trainer starts again
            self._is_reported = False
            self._counts.restart()
        self._started.add(action_name)
        self._counts.start(action_name)

    def stop(self, action_name: str) -> None:
        self._counts.stop(action_name)
        if action_name not in self._started and self.mode != "pytorch":
            raise ValueError(
                f"Attempting to stop recording an action ({action_name}) which was never started."
            )

    def profile(self, action_name: str) -> "_Profiled":
        return _Profiled(self, action_name)

    def summary(self) -> str:
        stage = f"{self._stage.upper()} " if self._stage else ""
        return f"{stage}Profiler Report\n\n{self._counts.text()}\n"

    def describe(self) -> None:
        """Nothing that cannot be written ends a training."""
        summary = self.summary()
        self._rank_zero_info(summary)
        if self.dirpath:
            named = None if self.filename else f"stepscope-{self.mode}"
            self._write(summary.encode(), "ab", action_name=named)
        if self._options.get("dump_stats"):
            self._dump_stats()
        self._is_reported = True
        self.teardown(stage=self._stage)

    def teardown(self, stage: str | None) -> None:
        """Also when it is deleted, and even if it was never completely made."""
        super().teardown(stage=stage)
        if hasattr(self, "_counts"):
            self._counts.end()

    # --- what was measured --------------------------------------------------------------------

    @property
    def recorded_durations(self) -> dict[str, list[float]]:
        """simple: the seconds of every call, by action."""
        if not isinstance(self._counts, Simple):
            raise AttributeError(_NOT_HERE.format("recorded_durations", "simple"))
        return self._counts.durations_s

    @property
    def profiled_actions(self) -> dict[str, Profile]:
        """advanced: the functions of each action."""
        if not isinstance(self._counts, Advanced):
            raise AttributeError(_NOT_HERE.format("profiled_actions", "advanced"))
        return self._counts.profiles

    @property
    def function_events(self) -> Any:
        """pytorch: torch's events."""
        if not isinstance(self._counts, Operators):
            raise AttributeError(_NOT_HERE.format("function_events", "pytorch"))
        return self._counts.events

    # --- files --------------------------------------------------------------------------------

    def _dump_stats(self) -> None:
        assert isinstance(self._counts, Advanced)
        if not self.dirpath:
            self.warn("dump_stats wrote nothing: there is neither a dirpath nor a log folder.")
            return
        for action, content in self._counts.dumps().items():
            self._write(content, "wb", action_name=action, extension=".prof")

    def _write(self, content: bytes, mode: str, **name: Any) -> None:
        path = os.path.join(self.dirpath, self._prepare_filename(**name))
        try:
            filesystem = filesystem_of(_Base, path)
            filesystem.mkdirs(self.dirpath, exist_ok=True)
            with filesystem.open(path, mode) as file:
                file.write(content)
        except Exception as error:  # of any file system, also of one in the cloud
            let_pass(error)
            self.warn(f"'{path}' was not written: {error}")

    # --- what the operators need --------------------------------------------------------------

    def trace_ready(self, profiler: Any, kind: str) -> None:
        if "on_trace_ready" in self._options:
            scripts_own = self._options["on_trace_ready"] or (lambda _: None)
            scripts_own(profiler)
        elif self._options.get("export_to_chrome", True):
            self._export(profiler, kind)

    def _export(self, profiler: Any, kind: str) -> None:
        """A file that TensorBoard opens: `{stage}-{filename}-training_step.….pt.trace.json`."""
        if not self.dirpath:
            self.warn("No trace was written: there is neither a dirpath nor a log folder.")
            return
        name = self._prepare_filename(action_name=kind, extension="")
        try:
            torch: Any = importlib.import_module("torch")
            torch.profiler.tensorboard_trace_handler(os.fspath(self.dirpath), name)(profiler)
        except Exception as error:  # the disk is full, or the folder is in the cloud
            let_pass(error)
            self.warn(f"The trace '{name}' was not written: {error}")

    def module_names(self) -> Any:
        if self._lightning_module is None or not self._options.get("record_module_names", True):
            return None
        return module_names(_Base, self._lightning_module)

    def warn(self, message: str) -> None:
        if self._local_rank in (None, 0):
            warnings.warn(message, stacklevel=2)

    def __reduce__(self) -> tuple[Any, ...]:
        """For a trainer that starts processes: each of them has its own counts."""
        given, options = self._made_with
        return functools.partial(type(self), **options), given


def _require_fitting(mode: str, options: Mapping[str, Any]) -> None:
    """An option of another mode would do nothing."""
    if mode == "pytorch":
        return
    for name in options:
        if name != _OPTIONS[mode]:
            owner = next((each for each, own in _OPTIONS.items() if own == name), "pytorch")
            raise InputError(
                f"The mode '{mode}' has no option '{name}'. It has '{_OPTIONS[mode]}'; for "
                f"'{name}', try the mode '{owner}'."
            )


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
