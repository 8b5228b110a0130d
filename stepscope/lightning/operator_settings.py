"""What the mode `pytorch` is given: for torch's profiler, for its table, and for its files."""

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from stepscope.errors import InputError

Schedule = Callable[[int], Any]  # the number of steps so far to a ProfilerAction
_SORT_KEYS: Final = (
    "cpu_time", "cuda_time", "device_time", "cpu_time_total", "cuda_time_total",
    "device_time_total", "cpu_memory_usage", "cuda_memory_usage", "device_memory_usage",
    "self_cpu_memory_usage", "self_cuda_memory_usage", "self_device_memory_usage",
    "self_cpu_time_total", "self_cuda_time_total", "self_device_time_total", "count",
)  # fmt: skip
_REFUSED: Final = {
    "emit_nvtx": "run the script under 'nsys profile' with Lightning's PyTorchProfiler for that",
    "export_to_flame_graph": "'stepscope run' records stacks, 'stepscope export --to speedscope' "
    "or '--to collapsed' writes them",
    "metric": "it belongs to export_to_flame_graph: 'stepscope export --to speedscope' writes "
    "the stacks of a run",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class OperatorSettings:
    """As Lightning's PyTorchProfiler names them; `profiler` is for torch.profiler.profile."""

    row_limit: float = 20
    sort_by_key: str | None = None
    group_by_input_shapes: bool = False
    export_to_chrome: bool = True
    record_module_names: bool = True
    table_kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    profiler: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def has_schedule(self) -> bool:
        """Also None: no schedule, everything is recorded."""
        return "schedule" in self.profiler

    @property
    def schedule(self) -> Schedule | None:
        return self.profiler.get("schedule")

    def new_profiler(self) -> Any:
        """It is started and stopped here: the schedule and what follows a trace are not torch's
        business."""
        ours = ("schedule", "on_trace_ready")
        kept = {name: value for name, value in self.profiler.items() if name not in ours}
        return importlib.import_module("torch").profiler.profile(**kept)

    def table(self, averages: Any) -> str:
        torch: Any = importlib.import_module("torch")
        by = "device_time_total" if torch.cuda.is_available() else "cpu_time_total"
        limit = self.row_limit
        rows = limit if isinstance(limit, int) else round(limit * len(averages))
        by = self.sort_by_key or by
        text: str = averages.table(sort_by=by, row_limit=rows, **self.table_kwargs)
        return text


def operator_settings(row_limit: float, options: Mapping[str, Any]) -> OperatorSettings:
    """From the profiler's arguments; what is unknown or wrong is refused before anything runs."""
    known = {field.name for field in dataclasses.fields(OperatorSettings)} - {"profiler"}
    own = {name: value for name, value in options.items() if name in known and value is not None}
    torchs = {name: value for name, value in options.items() if name not in known}
    for name, instead in _REFUSED.items():
        if torchs.pop(name, None):
            raise InputError(f"{name} is not offered here: {instead}.")
    _require_known(torchs, known)
    _require_schedule(torchs.get("schedule"))
    _require_sort_key(own.get("sort_by_key"))
    _require_table_options(own.get("table_kwargs", {}))
    if own.get("group_by_input_shapes"):
        torchs.setdefault("record_shapes", True)  # else there is nothing to group by
    return OperatorSettings(**{"row_limit": row_limit, **own}, profiler=torchs)


def _require_known(torchs: Mapping[str, Any], known: set[str]) -> None:
    torch: Any = importlib.import_module("torch")
    of_torch = set(inspect.signature(torch.profiler.profile.__init__).parameters) - {"self"}
    for name in torchs.keys() - of_torch:
        raise InputError(
            f"The mode 'pytorch' has no option '{name}'. It has {', '.join(sorted(known))}, and "
            f"those of torch.profiler.profile: {', '.join(sorted(of_torch))}."
        )


def _require_schedule(schedule: Any) -> None:
    if schedule is None:
        return
    if not callable(schedule):
        raise InputError(
            f"schedule={schedule!r} cannot be called. torch.profiler.schedule(...) is one."
        )
    action = schedule(0)
    if not isinstance(action, importlib.import_module("torch").profiler.ProfilerAction):
        raise InputError(
            f"The schedule gives {action!r} for step 0, and not a torch.profiler.ProfilerAction."
        )


def _require_sort_key(key: str | None) -> None:
    if key is not None and key not in _SORT_KEYS:
        raise InputError(
            f"sort_by_key={key!r} is not a column. There are: {', '.join(_SORT_KEYS)}."
        )


def _require_table_options(options: Mapping[str, Any]) -> None:
    """KeyError, as Lightning's own profiler has it."""
    torch: Any = importlib.import_module("torch")
    ours = {"sort_by": "sort_by_key", "row_limit": "row_limit"}
    table = inspect.signature(torch.autograd.profiler_util.EventList.table).parameters
    valid = sorted(set(table) - {"self", *ours})
    for key in options:
        if key in ours:
            raise KeyError(
                f"Found invalid table_kwargs key: {key}. This is already a positional argument of "
                f"the Profiler: {ours[key]}."
            )
        if key not in valid:
            raise KeyError(
                f"Found invalid table_kwargs key: {key}. Should be within {', '.join(valid)}."
            )
