"""Writes to a descriptor that it was given."""

import os
import sys

os.write(int(sys.argv[1]), b"through the inherited one")
