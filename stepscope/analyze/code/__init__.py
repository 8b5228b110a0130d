"""Lines, functions, calls and sampled stacks."""
