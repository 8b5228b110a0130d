"""concurrent.interpreters, by call, by exec, in threads and in a pool: their code is left alone."""

import sys
from concurrent import interpreters
from concurrent.futures import InterpreterPoolExecutor

SOURCE = """
import sys
def add(n):
    total = 0
    for i in range(n):
        total += i
    return total
queue.put((add(100), sorted(m for m in sys.modules if "stepscope" in m), sys.monitoring.get_tool(3)))
"""


def square(n):
    return n * n


def main():
    queue = interpreters.create_queue()
    other = interpreters.create()
    other.prepare_main(queue=queue)
    for _ in range(3):
        other.exec(SOURCE)
        print(queue.get())
    print(other.call(square, 7))
    thread = other.call_in_thread(square, 8)
    thread.join()
    try:
        other.exec("1 / 0")
    except interpreters.ExecutionFailed as error:
        print(error.excinfo.type.__name__)
    other.close()
    with InterpreterPoolExecutor(max_workers=2) as pool:
        print(list(pool.map(square, range(5))))
    print(len(interpreters.list_all()))


main()
