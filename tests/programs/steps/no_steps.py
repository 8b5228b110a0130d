"""Nothing that repeats."""

from _busy import busy

busy(20)
