"""Starts an interpreter of its own, and one through multiprocessing's spawn."""

import multiprocessing
import subprocess
import sys


def work(queue):
    queue.put(sum(range(1000)))


if __name__ == "__main__":
    subprocess.run([sys.executable, "-c", "total = sum(range(1000))"], check=True)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    worker = context.Process(target=work, args=(queue,))
    worker.start()
    print(queue.get())
    worker.join()
