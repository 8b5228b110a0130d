"""Findings that need a trace of the device."""
