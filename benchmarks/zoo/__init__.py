"""Training scripts with one known fault each, and what stepscope finds in them."""
