"""`show ops`: operators in the recorded windows, and the lines that called them."""

from typing import TYPE_CHECKING, Final

from stepscope.views.view import Key, Option, Rows, View

if TYPE_CHECKING:
    from stepscope.model.ops import OpsAnswer

# By torch's names; "cuda" means the device, whatever its kind.
_SORTS: Final[dict[str, Key]] = {
    "self_cpu_time_total": lambda row: -row.self_cpu_ns,
    "cpu_time_total": lambda row: -row.total_cpu_ns,
    "cpu_time": lambda row: -row.total_cpu_ns / max(1, row.calls),
    "count": lambda row: -row.calls,
    "cpu_memory_usage": lambda row: -(row.total_cpu_bytes or 0),
    "self_cpu_memory_usage": lambda row: -(row.self_cpu_bytes or 0),
    "self_device_time_total": lambda row: -(row.self_device_ns or 0),
    "device_time_total": lambda row: -(row.total_device_ns or 0),
    "device_time": lambda row: -(row.total_device_ns or 0) / max(1, row.calls),
    "self_device_memory_usage": lambda row: -(row.self_device_bytes or 0),
    "flops": lambda row: -(row.flops or 0),
    "name": lambda row: row.name,
}
_ALIASES: Final = {
    name.replace("device", device): name
    for name in _SORTS
    for device in ("cuda", "xpu")
    if "device" in name
} | {"time": "self_cpu_time_total", "calls": "count"}

_BY: Final = Option(
    flag="--by",
    help="one row per name, per name and shape, or per module of the model.",
    choices=("name", "shape", "module"),
)

OPS: "View[OpsAnswer]" = View(
    name="ops",
    title="Operators",
    question="which operators, how often, how long, from which line?",
    computed="analyze.operators.grouped_operators:ops",
    drawn="show.terminal.ops:ops",
    page="operators",
    rows=Rows(
        field="ops", sorts=_SORTS | {alias: _SORTS[name] for alias, name in _ALIASES.items()}
    ),
    top=40,
    options=(_BY,),
    asked_with=lambda given: {
        "by_shape": given.get("by") == "shape",
        "by_module": given.get("by") == "module",
    },
    takes_traces=True,
)
