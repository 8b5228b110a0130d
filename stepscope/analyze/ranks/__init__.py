"""What the ranks of one training do to each other."""
