"""Two or more runs side by side."""
