"""Python functions that C calls: keys, maps, comparisons, descriptors, __del__, import hooks."""

import bisect
import collections
import functools
import heapq
import operator
import re


@functools.total_ordering
class Weight:
    made = 0

    def __init__(self, grams):
        Weight.made += 1
        self.grams = grams

    def __lt__(self, other):
        return self.grams < other.grams

    def __eq__(self, other):
        return self.grams == other.grams

    def __hash__(self):
        return hash(self.grams)

    def __del__(self):
        Weight.made -= 1

    def __call__(self, more):
        return self.grams + more

    @property
    def kilos(self):
        return self.grams / 1000

    @classmethod
    def of(cls, *all_grams):
        return [cls(grams) for grams in all_grams]

    @staticmethod
    def heavier(a, b):
        return a if a > b else b

    def __getattr__(self, name):
        return len(name)


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


weights = Weight.of(5, 3, 9, 1)
weights.sort()
heapq.heapify(weights)
print(functools.reduce(Weight.heavier, weights).grams, bisect.bisect(weights, Weight(4)))
print(list(map(operator.attrgetter("kilos"), weights)), [w(1) for w in weights])
print(re.sub(r"\d", lambda found: found.group() * 2, "a1b2"), weights[0].unheard_of)
print(sum(Countdown(6)), collections.Counter(Weight.of(1, 2, 1))[Weight(1)])
print(functools.partial(Weight.heavier, Weight(2))(Weight(3)).grams, "%d" % max(Countdown(4)))
bound = [].append
for turn in range(3):
    bound(turn), list.append([], turn), "x".join("ab"), str.upper("c"), dict.fromkeys("ab")
del weights
print(*(f(3) for f in (abs, Weight(4), lambda x: x, functools.partial(pow, 2))))
