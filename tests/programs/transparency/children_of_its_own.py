"""fork, exec, subprocess and their exit statuses."""

import os
import subprocess
import sys
import threading
import warnings

warnings.simplefilter("always")


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


def forked(how):
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        how()
        os._exit(work(10))
    _, status = os.waitpid(pid, 0)
    print(how.__name__, status)


def quietly():
    work(100)


def loudly():
    print("in the child", work(100), flush=True)


def raising():
    sys.exit(9)


def failing():
    raise RuntimeError("in the child")


def killed():
    os.kill(os.getpid(), 9)


def again():
    forked(quietly)


def with_thread():
    thread = threading.Thread(target=loudly)
    thread.start()
    thread.join()


def replaced():
    os.execv(sys.executable, [sys.executable, "-c", "import sys; print('new program', sys.argv)"])


for how in (quietly, loudly, killed, again, with_thread, replaced):
    forked(how)
for how in (raising, failing):
    pid = os.fork()
    if pid == 0:
        how()
    print(how.__name__, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
thread = threading.Thread(target=forked, args=(loudly,))
thread.start()
thread.join()
command = [sys.executable, "-c"]
print(subprocess.run([*command, "print(__name__)"], capture_output=True, text=True))
print(subprocess.run([*command, "import sys; sys.exit(4)"], capture_output=True).returncode)
print(subprocess.run([*command, "1/0"], capture_output=True, text=True).stderr)
print(subprocess.run([sys.executable, "-I", "-c", "print(2)"], capture_output=True).stdout)
print(subprocess.run([sys.executable, "-S", "-c", "print(3)"], capture_output=True).stdout)
print(subprocess.run([sys.executable, "-E", "-c", "print(4)"], capture_output=True).stdout)
print(subprocess.run(["sh", "-c", "exit 3"]).returncode, os.system("exit 5") >> 8)
print(subprocess.run([*command, "print(input())"], input=b"from stdin", capture_output=True).stdout)
print(subprocess.run([*command, "pass"], env={}, capture_output=True))
print(subprocess.run([*command, "print(1)"], preexec_fn=quietly, capture_output=True).stdout)
sys.stdout.flush()
os.execv(sys.executable, [sys.executable, "-c", "import sys; print('the last'); sys.exit(6)"])
