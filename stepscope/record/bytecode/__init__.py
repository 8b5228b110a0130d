"""Python 3.11 has no sys.monitoring: ticks are written into the bytecode instead."""
