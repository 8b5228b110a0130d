"""`stepscope try`, interrupted in the middle of starting the script: it runs, but nobody has it."""

import subprocess
import sys
import time

from stepscope.cli.main import main

start = subprocess.Popen.__init__


def start_and_be_interrupted(self, arguments, *others, **options):
    start(self, arguments, *others, **options)
    if "naps.py" in map(str, arguments):
        time.sleep(1.5)  # it has started its own child by then
        raise KeyboardInterrupt


subprocess.Popen.__init__ = start_and_be_interrupted
sys.argv = ["stepscope", "try", "--steps", "30", "naps.py", "--with-child"]
sys.exit(main())
