"""Which stretches of time are the training steps."""
