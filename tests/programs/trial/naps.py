"""A training whose steps are mostly a nap; with a subprocess that would outlive a killed parent."""

import subprocess
import sys
import time

if "--with-child" in sys.argv:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)

for _step in range(500):
    time.sleep(0.01)
