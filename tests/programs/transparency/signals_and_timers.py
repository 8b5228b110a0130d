"""Signals, timers, and system calls that an unexpected signal would interrupt."""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time

received = []


def handler(number, frame):
    received.append((signal.Signals(number).name, frame.f_code.co_name))


print(sorted((int(n), str(signal.getsignal(n))) for n in signal.valid_signals()))
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.sigpending(), signal.set_wakeup_fd(-1))
print(signal.getitimer(signal.ITIMER_REAL), signal.getitimer(signal.ITIMER_PROF))
libc = ctypes.CDLL(None, use_errno=True)
for _ in range(5):  # a stray signal would end any of these early
    began = time.monotonic()
    print(libc.usleep(30_000), libc.poll(None, 0, 30), select.select([], [], [], 0.03))
    time.sleep(0.03)
    assert time.monotonic() - began >= 0.12
for number in (signal.SIGUSR1, signal.SIGALRM, signal.SIGCHLD, signal.SIGPROF, signal.SIGVTALRM):
    signal.signal(number, handler)


def spin_until(count):
    while len(received) < count:
        pass


os.kill(os.getpid(), signal.SIGUSR1)
spin_until(1)
signal.raise_signal(signal.SIGUSR1)
spin_until(2)
signal.setitimer(signal.ITIMER_REAL, 0.01)
spin_until(3)
signal.setitimer(signal.ITIMER_VIRTUAL, 0.01)
spin_until(4)
signal.alarm(1)
signal.siginterrupt(signal.SIGALRM, True)
print(libc.usleep(999_999 + 500_000) if False else signal.alarm(0))
signal.setitimer(signal.ITIMER_REAL, 0.05)
print(libc.poll(None, 0, 5000), ctypes.get_errno() == 4)  # interrupted by ours, as we asked
spin_until(5)
signal.signal(signal.SIGCHLD, handler)
subprocess.run([sys.executable, "-c", "pass"], check=True)
spin_until(6)
print(received)
reader, writer = os.pipe()
os.set_blocking(writer, False)
signal.set_wakeup_fd(writer)
signal.raise_signal(signal.SIGUSR1)
print(os.read(reader, 10))
signal.set_wakeup_fd(-1)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
os.kill(os.getpid(), signal.SIGUSR2)
print(signal.sigpending(), signal.sigwait({signal.SIGUSR2}))
signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("from a handler")))
signal.setitimer(signal.ITIMER_REAL, 0.01)
try:
    while True:
        pass
except TimeoutError as error:
    print(error)
