"""with: several managers, nested, on one line, raising, swallowing, returning, in loops."""


class Manager:
    def __init__(self, swallow=False):
        self.swallow = swallow
        self.slot = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return self.swallow and kind is not None


def swallow(n):
    done = 0
    for i in range(n):
        with Manager(swallow=True):
            if i % 2:
                raise ValueError(i)
            done += 1
    return done


def pair():
    holder = Manager()
    with Manager(), Manager() as holder.slot:
        pass
    with Manager(True) as a, Manager() as b:
        raise KeyError((a, b))
    with Manager(True) as a, \
            Manager() as b, \
            Manager() as c:
        raise KeyError((a, b, c))
    with (
        Manager(True) as a,
        Manager() as holder.slot,
        Manager() as (x, y),
    ):
        print("never reached", x, y)
    return holder.slot is not None


def nested():
    with Manager(True):
        with Manager():
            with Manager() as m:
                m.missing
    return "after"


def early(n):
    with Manager() as m:
        for i in range(n):
            with m:
                if i == 2:
                    return i
                if i == 1:
                    continue
    return None


def leave():
    while True:
        with Manager():
            break
    with Manager(True): raise ValueError
    with Manager(): x = 1
    for i in range(3):
        with Manager(True): raise ValueError(i)
    return x


def through():
    try:
        with Manager():
            raise OSError
    except OSError:
        return "through"
    finally:
        with Manager():
            pass


def main():
    try:
        print(pair())
    except TypeError as error:
        print(type(error))
    print(swallow(5), nested(), early(5), leave(), through())


main()
