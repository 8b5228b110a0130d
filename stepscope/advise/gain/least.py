"""How large a gain must be to matter: one threshold for all findings."""

from typing import Final

# Even on a quiet machine the same gain, measured again, differs by 1 to 3 % from round to round
# (benchmarks/zoo/results.md, made by `make zoo`): a smaller one could not be shown to be true.
LEAST_GAIN: Final = 1.03
# What takes a smaller share of the step cannot gain that much, even if all of it went away.
LEAST_SHARE: Final = 0.03
