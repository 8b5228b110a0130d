"""Twelve steps with a region, a file, a helper thread and calls of its own, for the exporters."""

import threading
import time

import stepscope

STEPS = 12


def forward(rows):
    return [square(value) for value in rows]


def square(value):
    return value * value


class Log:
    def write(self, total):
        with open("loss, of \"the\" run.txt", "a") as file:
            file.write(f"{total}\n")


def train(log):
    for _ in range(STEPS):
        with stepscope.region('augment, "twice"\nor more'):
            time.sleep(0.002)
        log.write(sum(forward(range(50))))
        stepscope.step()


def wait(ended):
    ended.wait()


if __name__ == "__main__":
    ended = threading.Event()
    helper = threading.Thread(target=wait, args=(ended,), name="helper")
    helper.start()
    train(Log())
    ended.set()
    helper.join()
