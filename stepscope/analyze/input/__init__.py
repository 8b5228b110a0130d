"""What loads the batches, and what limits it."""
