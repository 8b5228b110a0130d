"""cProfile's interface: one import differs."""

import re

from stepscope import Profile


def words(text):
    return re.findall(r"\w+", text.lower())


def counted(text):
    counts = {}
    for word in words(text):
        counts[word] = counts.get(word, 0) + 1
    return counts


if __name__ == "__main__":
    with Profile() as profile:
        print(counted("to be or not to be " * 500)["be"])
    profile.print_stats("tottime")
