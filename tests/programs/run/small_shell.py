"""A shell with job control for one command: TERMINAL COMMAND... It says when the job stops and
ends, and continues it at once when it has stopped."""

import os
import signal
import sys

terminal = os.open(sys.argv[1], os.O_RDWR)  # a session leader's first terminal is its own
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(terminal, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[2], sys.argv[2:])
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        break
    print("stopped by", signal.Signals(os.WSTOPSIG(status)).name, flush=True)
    os.killpg(job, signal.SIGCONT)
os.tcsetpgrp(terminal, os.getpgrp())
print("ended with", os.waitstatus_to_exitcode(status), flush=True)
