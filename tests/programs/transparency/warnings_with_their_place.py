"""Warnings: each names the line that it is about, and comes once a line."""

import warnings


def deprecated():
    warnings.warn("use something else", DeprecationWarning, stacklevel=2)


def noisy():
    warnings.warn("watch out")
    warnings.warn("of the caller", stacklevel=2)
    warnings.warn("of nobody", stacklevel=50)


for _ in range(3):
    deprecated()
    noisy()
print(sorted(str(key[:2]) for key in __warningregistry__ if isinstance(key, tuple)))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    noisy()
    open(__file__)  # never closed: a ResourceWarning when it goes
print([(w.filename, w.lineno, w.category.__name__, str(w.message)) for w in caught])
warnings.simplefilter("error")
try:
    deprecated()
except DeprecationWarning as error:
    print(repr(error), error.__traceback__.tb_lineno)
