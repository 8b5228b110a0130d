"""Reads what other tools have written: one file a format."""
