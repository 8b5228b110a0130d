"""Prints what TensorBoard's torch_tb_profiler makes of the folder it is given, as JSON."""

import json
import sys

from torch_tb_profiler import io
from torch_tb_profiler.profiler.loader import RunLoader
from torch_tb_profiler.run import RunProfile


def main():
    with io.Cache() as cache:
        run = RunLoader("run", sys.argv[1], cache).load()
    profiles = [
        {
            "worker": profile.worker,
            "span": profile.span,
            "views": [view.name for view in profile.views],
            "steps": [row[0] for row in profile.overview["steps"]["rows"]],
            "costs": {
                each["name"]: each["value"]
                for each in profile.overview["performance"][0]["children"]
            },
            "operators": {
                row["name"]: row["calls"] for row in profile.operation_table_by_name["data"]
            },
            "host_us": sum(
                row["host_self_duration"] for row in profile.operation_table_by_name["data"]
            ),
            "kernels": [row[0] for row in profile.kernel_table["data"]["rows"]]
            if profile.kernel_table
            else [],
        }
        for profile in run.get_profiles()
        if isinstance(profile, RunProfile)
    ]
    together = [type(each).__name__ for each in run.get_profiles() if type(each) is not RunProfile]
    print(json.dumps({"profiles": profiles, "together": together}))


if __name__ == "__main__":
    main()
