"""Processes that are started the way that is the default."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


if __name__ == "__main__":
    print(multiprocessing.get_start_method(allow_none=True), multiprocessing.get_context()._name)
    process = multiprocessing.Process(target=work, args=(10,))
    process.start()
    process.join()
    print(process.exitcode)
    with multiprocessing.Pool(2) as pool:
        print(pool.map(work, [10, 20, 30]))
    with ProcessPoolExecutor(2) as pool:
        print(list(pool.map(work, [10, 20, 30])))
    print(multiprocessing.get_start_method())
