"""What HolisticTraceAnalysis says about one trace, as JSON: `figures.py TRACE STEP`, the place of the
step among those that the trace marks."""

import collections
import contextlib
import io
import json
import logging
import sys

from hta.analyzers.critical_path_analysis import CriticalPathAnalysis
from hta.analyzers.cuda_kernel_analysis import CudaKernelAnalysis
from hta.analyzers.trace_counters import TraceCounters
from hta.common.trace import Trace


def launches(trace):
    table = CudaKernelAnalysis.cuda_kernel_launch_stats(trace, [0], visualize=False)[0]
    return {
        int(row.correlation): [float(row.cpu_duration), float(row.gpu_duration), float(row.launch_delay)]
        for row in table.itertuples()
    }


def queues(trace):
    table = TraceCounters._get_queue_length_time_series_for_rank(trace, 0)
    found = {}
    for stream, rows in table.groupby("stream"):
        lengths = rows["queue_length"]
        found[int(stream)] = {"changes": len(rows), "max": int(lengths.max()), "mean": float(lengths.mean())}
    return found


def critical_path(trace, step):
    graph, is_found = CriticalPathAnalysis.critical_path_analysis(trace, 0, "ProfilerStep", step)
    assert is_found
    table = graph.get_critical_path_breakdown()
    kinds = collections.Counter()
    for row in table.itertuples():
        kinds[row.bound_by or row.type] += float(row.duration)
    return dict(kinds)


def main(path, step):
    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()):
        trace = Trace(trace_files={0: path})
        trace.parse_traces(use_multiprocessing=False)
        trace.decode_symbol_ids(use_shorten_name=False)
        answer = {"launches": launches(trace), "queues": queues(trace)}
        answer["critical_path"] = critical_path(trace, step)
    json.dump(answer, sys.stdout)


main(sys.argv[1], int(sys.argv[2]))
