"""What the rules look at: the case, its source text, its counters and its samples."""
