"""Prints HTA's figures for a trace as JSON, in microseconds; needs an environment with HTA."""

import json
import logging
import sys
from pathlib import Path

logging.disable(logging.CRITICAL)

from hta.trace_analysis import TraceAnalysis  # noqa: E402  # it logs while it is imported

path = Path(sys.argv[1])
# Without its last step, a trace of two steps is only half of it.
analysis = TraceAnalysis(
    trace_files={0: str(path)}, trace_dir=str(path.parent), include_last_profiler_step=True
)
times = analysis.get_temporal_breakdown(visualize=False).to_dict("records")[0]
overlap = analysis.get_comm_comp_overlap(visualize=False).to_dict("records")[0]
idle, _ = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
print(
    json.dumps(
        {
            "wall": times["kernel_time(us)"],
            "idle": times["idle_time(us)"],
            "compute": times["compute_time(us)"],
            "overlap_percent": overlap["comp_comm_overlap_pctg"],
            "streams": [
                [int(row["stream"]), row["idle_category"], row["idle_time"]]
                for row in idle.to_dict("records")
            ],
        }
    )
)
