"""return, break and continue that pass through finally and with blocks."""


class Note:
    def __init__(self, log, swallow=False):
        self.log, self.swallow = log, swallow

    def __enter__(self):
        self.log.append("in")

    def __exit__(self, *what):
        self.log.append("out")
        return self.swallow


def leave_loop(n, log):
    for i in range(n):
        try:
            if i == 1:
                continue
            with Note(log):
                if i == 3:
                    break
                if i == 4:
                    return "never"
        finally:
            log.append(i)
    return "end"


def deep_return(log):
    try:
        try:
            with Note(log):
                return "value"
        finally:
            log.append("one")
    finally:
        log.append("two")


def raise_in_finally(log):
    try:
        try:
            raise ValueError
        finally:
            log.append("before")
            raise KeyError
    except KeyError:
        log.append("caught")
    finally:
        for _ in range(2): log.append("end")


def raise_in_except(log):
    try:
        try:
            raise ValueError
        except ValueError:
            log.append("handling")
            with Note(log, swallow=True): raise IndexError
            raise KeyError
        finally: log.append("inner")
    except KeyError: log.append("outer")


def loop_in_finally(n):
    seen = 0
    try:
        for i in range(n):
            seen += 1
    finally:
        while seen:
            try:
                seen -= 1
            finally:
                if seen == 1: break
    return seen


log = []
print(leave_loop(6, log), deep_return(log), raise_in_finally(log), raise_in_except(log))
print(loop_in_finally(5), log)
