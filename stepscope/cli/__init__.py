"""The command line: one module per verb, each with a click command named `command`."""
