"""Reads a trace with HTA and asks for what `stepscope show TRACE` says of the device; prints the
CPU time and the most memory of the whole program. Needs an environment with HTA."""

import json
import logging
import resource
import sys
from pathlib import Path

logging.disable(logging.CRITICAL)

from hta.trace_analysis import TraceAnalysis  # noqa: E402  # it logs while it is imported

path = Path(sys.argv[1])
analysis = TraceAnalysis(
    trace_files={0: str(path)}, trace_dir=str(path.parent), include_last_profiler_step=True
)
times = analysis.get_temporal_breakdown(visualize=False).to_dict("records")[0]
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(
    json.dumps(
        {
            "busy_us": times["kernel_time(us)"] - times["idle_time(us)"],
            "cpu_s": sum(each.ru_utime + each.ru_stime for each in used),
            "peak_bytes": max(each.ru_maxrss for each in used) * 1024,
        }
    )
)
