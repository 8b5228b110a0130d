"""multiprocessing with the start method that the argument names: Pool, Process, executor."""

import concurrent.futures
import multiprocessing
import os
import sys
import traceback


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total, __name__


def fail(n):
    raise ValueError(f"no {n}")


def initialize(value):
    global given
    given = value


def use_given(n):
    return given + n


def child(queue, value, lock, event):
    event.wait()
    with lock:
        value.value += 1
    queue.put((multiprocessing.current_process().name, sys.argv[1:], __name__))
    print("child says", work(10), flush=True)
    if value.value == 2:
        sys.exit(7)


def main(method):
    context = multiprocessing.get_context(method)
    with context.Pool(2, initialize, (40,)) as pool:
        print(pool.map(work, range(5)), pool.apply(use_given, (2,)), flush=True)
        print(sorted(pool.imap_unordered(use_given, range(6), chunksize=2)))
        try:
            pool.apply(fail, (3,))
        except ValueError:
            traceback.print_exc(file=sys.stdout)
    queue, value = context.Queue(), context.Value("i", 0)
    lock, event = context.Lock(), context.Event()
    for _ in range(2):
        process = context.Process(target=child, args=(queue, value, lock, event))
        process.start()
        event.set()
        said = queue.get()
        process.join()
        print(said[1:], process.exitcode, value.value, flush=True)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        print(list(executor.map(work, range(4))))
        failed = executor.submit(fail, 1)
        print(type(failed.exception()).__name__, "no 1" in str(failed.exception()))
    print(multiprocessing.active_children(), os.path.basename(sys.argv[0]))


if __name__ == "__main__":
    main(sys.argv[1])
