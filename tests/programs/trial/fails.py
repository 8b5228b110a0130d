"""Fails before its first step."""

print("reading the data")
raise ValueError("no such column: 'label'")
