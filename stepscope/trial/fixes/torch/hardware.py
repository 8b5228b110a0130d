"""What the machine of a run can compute with, asked outside the script."""

import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from stepscope.advise.evidence.case import Case

_CPU_INFO: Final = Path("/proc/cpuinfo")
_UNITS: Final = re.compile(r"\b(avx512_bf16|amx_bf16|bf16)\b")


def computes_bfloat16(cpu_info: Path = _CPU_INFO) -> bool:
    """True where the system does not say."""
    if platform.system() != "Linux":
        return True
    try:
        return _UNITS.search(cpu_info.read_text()) is not None
    except OSError:
        return True


def devices_of(case: "Case") -> list[str]:
    """Names of the GPUs that were there during the run."""
    for second in case.run.system:
        if second.get("devices"):
            return [device.get("name") or "GPU" for device in second["devices"]]
    return []
