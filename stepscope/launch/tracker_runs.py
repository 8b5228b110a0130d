"""`--log`: starts the process that adds a finished run to the script's trackers.

Nobody waits for it: a server that does not answer delays neither the training nor `stepscope run`.
"""

import contextlib
import glob
import os
import subprocess
import sys
from typing import Final

from stepscope.launch.unrecorded import unrecorded
from stepscope.store.format import TRACKERS_FILE

LOGGING: Final = "stepscope.cli.log"  # named as text: it analyses, and is never loaded here
DIGEST_FILE: Final = "digest.json"  # what it writes for a script that adds the run itself


def command(*arguments: str) -> list[str]:
    """-P: modules of the script's folder are not ours."""
    return [sys.executable, "-P", "-m", LOGGING, *arguments]


def hand_over(folder: str) -> None:
    """Nothing if the script had no run open that can be reached from outside."""
    if not glob.glob(os.path.join(glob.escape(folder), "proc-*", TRACKERS_FILE)):
        return
    with contextlib.suppress(OSError):
        subprocess.Popen(
            command("send", os.path.abspath(folder)),
            env=unrecorded(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
