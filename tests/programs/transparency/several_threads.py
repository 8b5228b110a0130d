"""Threads: names, locals, their exceptions, sys.exit in one, executors, and one left running."""

import concurrent.futures
import contextvars
import queue
import sys
import threading

local = threading.local()
context = contextvars.ContextVar("context", default="outside")


def count(n):
    local.value = n
    total = 0
    for i in range(n):
        total += i
    return local.value, total


def leave():
    print("leaving", threading.current_thread().name)
    sys.exit(3)


def explode():
    raise RuntimeError("in a thread")


def set_context(value):
    context.set(value)
    return context.get()


threads = [threading.Thread(target=count, args=(i,), name=f"counter-{i}") for i in range(8)]
for thread in threads:
    thread.start()
print(sorted(thread.name for thread in threads), hasattr(local, "value"))
for thread in threads:
    thread.join()
for target in (leave, explode):
    thread = threading.Thread(target=target, name=target.__name__)
    thread.start()
    thread.join()
with concurrent.futures.ThreadPoolExecutor(4, "pool") as executor:
    print(list(executor.map(count, range(20))))
    failed = executor.submit(explode)
    print(repr(failed.exception()), failed.exception().__traceback__.tb_lineno)
    print(sorted(executor.map(set_context, "abc")), context.get())
threading.excepthook = lambda details: print("hook", details.exc_value, details.thread.name)
broken = threading.Thread(target=explode, name="broken")
broken.start()
broken.join()
results = queue.Queue()
timer = threading.Timer(0.01, results.put, ["timer"])
timer.start()
print(results.get())
timer.join()
print(threading.active_count(), [thread.name for thread in threading.enumerate()])
print([type(thread).__name__ for thread in threading.enumerate()])
started = threading.Event()


def forever():
    started.set()
    while True:
        count(100)


threading.Thread(target=forever, daemon=True).start()
started.wait()
