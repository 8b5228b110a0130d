"""What TensorBoard's profile plugin finds in a folder, as JSON: runs, hosts, tools, operators.

    python load_xprof.py FOLDER
"""

import argparse
import json
import os
import sys

from tensorboard.plugins import base_plugin
from xprof import profile_plugin
from xprof.convert import raw_to_tool_data

folder = sys.argv[1]
flags = argparse.Namespace(master_tpu_unsecure_channel="", hide_capture_profile_button=False)
context = base_plugin.TBContext(logdir=folder, flags=flags)
plugin = profile_plugin.ProfilePlugin(context)
found = {}
for run in sorted(plugin.generate_runs()):
    place = plugin._run_dir(run)
    files = sorted(name for name in os.listdir(place) if name.endswith(".xplane.pb"))
    paths = [os.path.join(place, name) for name in files]
    table, _ = raw_to_tool_data.xspace_to_tool_data(paths, "framework_op_stats", {"tqx": ""})
    told = json.loads(table)
    labels = [column["id"] for column in told[0]["cols"]]
    rows = [dict(zip(labels, [c["v"] for c in row["c"]])) for row in told[0]["rows"]]
    operators = {}
    for row in rows:
        calls, self_us = operators.get(row["type"], (0, 0.0))
        operators[row["type"]] = calls + row["occurrences"], self_us + row["total_self_time"]
    found[run] = {
        "files": files,
        "tools": sorted(plugin.generate_tools_of_run(run, place)),
        "operators": operators,
    }
json.dump(found, sys.stdout)
