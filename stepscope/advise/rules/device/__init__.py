"""Findings that a trace of the device tells."""
