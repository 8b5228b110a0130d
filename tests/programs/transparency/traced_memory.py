"""tracemalloc: what this file's lines allocated."""

import tracemalloc


def big():
    return [bytes(1000) for _ in range(100)]


def text():
    return "".join(str(i) for i in range(1000))


tracemalloc.start(3)
first = tracemalloc.take_snapshot()
kept, also = big(), text()
second = tracemalloc.take_snapshot()
for statistic in second.compare_to(first, "lineno"):
    frame = statistic.traceback[0]
    if frame.filename == __file__ and statistic.size_diff > 2000:
        print(frame.lineno, statistic.size_diff // 1024)  # who counts the line may add some bytes
print(tracemalloc.get_object_traceback(also))
print([frame.lineno for frame in tracemalloc.get_object_traceback(kept[0])])
tracemalloc.stop()
print(tracemalloc.is_tracing())
