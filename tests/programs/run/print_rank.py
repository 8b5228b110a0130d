"""A rank: says which one it is."""

import os

print("rank", os.environ["RANK"], "pid", os.getpid())
