"""Reads other tools' traces: one folder per format, all converted to the same `Trace`."""
