"""One file per finding: when it applies, its evidence, what a fix gains, and its texts."""
