"""What devices can do at most, as their makers publish it.

From the data sheets and architecture white papers of NVIDIA (Tesla P100, V100, T4, A10, A30, A40,
A100, H100, H200, L4, L40, L40S, RTX A6000, the HGX B200 brief, the Ampere and Ada GeForce white
papers) and AMD (Instinct MI100, MI210, MI250X, MI300X, MI325X). Rates are dense, without sparsity;
half precision with 32-bit sums. A MI250X is two devices: the figures are those of one.
"""

import re
from typing import Any, Final

from stepscope.importers.trace import Trace
from stepscope.model.device import DevicePeaks

_T: Final = 1e12
_G: Final = 1e9
_LARGE_BYTES: Final = 60e9  # tells an A100 with 80 GB from one with 40


def _peaks(name: str, gb_per_s: float, **tera: float) -> DevicePeaks:
    rates = {precision: rate * _T for precision, rate in tera.items()}
    if "fp16" in rates:
        rates.setdefault("bf16", rates["fp16"])
    return DevicePeaks(name=name, flops_per_s=rates, bytes_per_s=gb_per_s * _G)


def _before_bf16(name: str, gb_per_s: float, **tera: float) -> DevicePeaks:
    """Without units for bfloat16."""
    known = _peaks(name, gb_per_s, **tera)
    del known.flops_per_s["bf16"]
    return known


_A100: Final = {"fp64": 9.7, "fp32": 19.5, "tf32": 156, "fp16": 312, "int8": 624}
_H100: Final = {"fp64": 34, "fp32": 67, "tf32": 494.7, "fp16": 989.4, "fp8": 1978.9, "int8": 1978.9}
_MI300: Final = {"fp64": 81.7, "fp32": 163.4, "tf32": 653.7, "fp16": 1307.4, "fp8": 2614.9,
                 "int8": 2614.9}  # fmt: skip

# The first pattern that is found in the device's name.
_TABLE: Final = (
    ("B200", _peaks("B200", 7700, fp64=37, fp32=75, tf32=1100, fp16=2250, fp8=4500, int8=4500)),
    ("H200", _peaks("H200", 4800, **_H100)),
    ("H100 NVL", _peaks("H100 NVL", 3900, fp64=30, fp32=60, tf32=417.5, fp16=835.5, fp8=1670.5)),
    ("H100 PCIe", _peaks("H100 PCIe", 2000, fp64=26, fp32=51, tf32=378, fp16=756, fp8=1513)),
    ("H100", _peaks("H100 SXM", 3350, **_H100)),
    ("A100.*(SXM|PG5).*80GB", _peaks("A100 SXM 80 GB", 2039, **_A100)),
    ("A100.*80GB", _peaks("A100 PCIe 80 GB", 1935, **_A100)),
    ("A100", _peaks("A100 40 GB", 1555, **_A100)),
    (r"A10\b", _peaks("A10", 600, fp32=31.2, tf32=62.5, fp16=125, int8=250)),
    ("A30", _peaks("A30", 933, fp64=5.2, fp32=10.3, tf32=82, fp16=165, int8=330)),
    (r"A40\b", _peaks("A40", 696, fp32=37.4, tf32=74.8, fp16=149.7, int8=299.3)),
    ("RTX A6000", _peaks("RTX A6000", 768, fp32=38.7, tf32=77.4, fp16=154.8, int8=309.7)),
    ("L40S", _peaks("L40S", 864, fp32=91.6, tf32=183, fp16=362, fp8=733, int8=733)),
    (r"L40\b", _peaks("L40", 864, fp32=90.5, tf32=90.5, fp16=181, fp8=362, int8=362)),
    (r"L4\b", _peaks("L4", 300, fp32=30.3, tf32=60, fp16=121, fp8=242.5, int8=242.5)),
    ("RTX 4090", _peaks("RTX 4090", 1008, fp32=82.6, tf32=82.6, fp16=165.2, fp8=330.3)),
    (r"RTX 3090\b(?! Ti)", _peaks("RTX 3090", 936, fp32=35.6, tf32=35.6, fp16=71)),
    ("V100S", _before_bf16("V100S PCIe", 1134, fp64=8.2, fp32=16.4, fp16=130)),
    ("V100.*PCIE", _before_bf16("V100 PCIe", 900, fp64=7, fp32=14, fp16=112)),
    ("V100", _before_bf16("V100", 900, fp64=7.8, fp32=15.7, fp16=125)),
    (r"\bT4\b", _before_bf16("T4", 320, fp32=8.1, fp16=65, int8=130)),
    ("P100.*SXM", _before_bf16("P100 SXM", 732, fp64=5.3, fp32=10.6, fp16=21.2)),
    ("P100", _before_bf16("P100 PCIe", 732, fp64=4.7, fp32=9.3, fp16=18.7)),
    ("MI325X", _peaks("MI325X", 6000, **_MI300)),
    ("MI300X", _peaks("MI300X", 5300, **_MI300)),
    ("MI250X", _peaks("one die of a MI250X", 1638, fp64=23.9, fp32=47.9, fp16=191.5)),
    ("MI210", _peaks("MI210", 1638, fp64=22.6, fp32=45.3, fp16=181)),
    ("MI100", _peaks("MI100", 1229, fp64=11.5, fp32=46.1, fp16=184.6, bf16=92.3)),
)  # fmt: skip


def device_name(trace: Trace, number: int) -> str | None:
    """As the trace calls it; None: it does not."""
    known = _properties(trace, number).get("name")
    return known if isinstance(known, str) and known else None


def peaks_of(trace: Trace, number: int) -> DevicePeaks | None:
    """None: the device is not in the table, or the trace does not name it."""
    name = device_name(trace, number)
    if name is None:
        return None
    memory = _properties(trace, number).get("totalGlobalMem")
    if "A100" in name and isinstance(memory, int) and memory > _LARGE_BYTES and "80GB" not in name:
        name += " 80GB"
    return next((peaks for pattern, peaks in _TABLE if re.search(pattern, name)), None)


def _properties(trace: Trace, number: int) -> dict[str, Any]:
    listed = trace.head.get("deviceProperties")
    each = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return next((one for one in each if one.get("id") == max(0, number)), {})
