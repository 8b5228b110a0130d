"""Starts a process that leaves its group and its session and forgets its environment; then fails."""

import subprocess
import sys

command = ["/bin/sh", "-c", f"echo $$ > {sys.argv[1]}; exec sleep 1000"]
subprocess.Popen(command, env={}, start_new_session=True)
while True:
    with open(sys.argv[1], "a+") as file:
        file.seek(0)
        if file.read().endswith("\n"):
            raise SystemExit("enough")
