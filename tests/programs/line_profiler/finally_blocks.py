"""`finally` and `with` that are left in every way; the program counts the turns itself."""

import collections

counts = collections.Counter()


def cleanup(n):
    for i in range(n):
        try:
            counts["body"] += 1
            if i % 3 == 0:
                continue
            if i == 7:
                break
        finally:
            counts["finally"] += 1
    return n


def returned(n):
    try:
        return n
    finally:
        counts["returned"] += 1


def raised(n):
    try:
        try:
            if n % 2:
                raise ValueError(n)
        finally:
            counts["raised"] += 1
    except ValueError:
        counts["caught"] += 1


def looped(n):
    try:
        for i in range(n):
            counts["turn"] += 1
    finally:
        counts["after"] += 1


def run():
    for n in range(10):
        cleanup(n)
        returned(n)
        raised(n)
        looped(n)
    return dict(counts)
