"""One file a finding: when it applies, its evidence, what a fix gains, and its words."""
