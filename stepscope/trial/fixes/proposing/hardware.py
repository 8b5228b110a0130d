"""What the machine of a run can compute with, asked outside the script."""

import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from stepscope.advise.evidence.case import Case
    from stepscope.trial.fixes.subject import Subject

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


def no_fast_bfloat16(subject: "Subject") -> str | None:
    """Why bfloat16 is not worth a run; None where it may be, or where it is asked for by name."""
    if subject.is_named or devices_of(subject.case) or computes_bfloat16():
        return None
    return "this CPU has no 16-bit units (avx512_bf16 or amx_bf16), and the run had no GPU"


def devices_of(case: "Case") -> list[str]:
    """Names of the GPUs that were there during the run."""
    for second in case.run.system:
        if second.get("devices"):
            return [device.get("name") or "GPU" for device in second["devices"]]
    return []
