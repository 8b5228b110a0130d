"""Findings that a trace of the CPU supports."""
