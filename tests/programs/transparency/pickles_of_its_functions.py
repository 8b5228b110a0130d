"""Functions, classes and code, serialised: the bytes are fingerprints that caches are keyed on."""

import copyreg
import hashlib
import marshal
import pickle
import sys
import types
import uuid

uuid.uuid4 = lambda: uuid.UUID(int=7)  # cloudpickle numbers classes at random


def plain(x, y=2):
    for i in range(y):
        x += i
    return x


def closure(n):
    def inner(m):
        return n + m
    return inner


def generator():
    yield from range(3)


class Model:
    def __init__(self):
        self.weights = [1, 2, 3]

    def forward(self, x):
        return [w * x for w in self.weights]


def digest(data):
    return hashlib.sha256(data).hexdigest()


plain(1)
things = {"plain": plain, "closure": closure(3), "generator": generator, "class": Model,
          "object": Model(), "lambda": lambda x: x + 1, "method": Model().forward}
for name, thing in things.items():
    for library in ("pickle", "cloudpickle", "dill"):
        try:
            module = __import__(library)
            data = module.dumps(thing)
            again = module.loads(data)
            print(name, library, digest(data), type(again).__name__)
        except ImportError:
            print("skipped:", library, "is not installed")
        except Exception as error:
            print(name, library, type(error).__name__, error)
import cloudpickle

copied = cloudpickle.loads(cloudpickle.dumps(plain))
print(copied(4), copied.__code__.co_code.hex(), copied.__code__.co_consts)
if sys.version_info >= (3, 12):
    for thing in (plain, closure, generator, Model.forward):
        print(digest(marshal.dumps(thing.__code__)))
else:
    for thing in (plain, closure, generator, Model.forward):
        print(len(marshal.dumps(thing.__code__)) > 0)
print(marshal.loads(marshal.dumps(plain.__code__)).co_name, sorted(map(str, copyreg.dispatch_table)))
print(types.FunctionType(plain.__code__, globals())(5, 3))
