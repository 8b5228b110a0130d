"""Facts about each framework: its packages, its files, and its wording for advice."""
