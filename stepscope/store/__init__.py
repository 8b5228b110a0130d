"""The run folder: its format, defined once, with its writers and readers."""
