"""What recording costs, side by side with other tools: `make bench`."""
