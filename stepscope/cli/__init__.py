"""The command line: one file a verb, each with a click command named `command`."""
