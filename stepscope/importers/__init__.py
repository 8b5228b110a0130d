"""Reads what other tools have written: one folder a format, all end in the same `Trace`."""
