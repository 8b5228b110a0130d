"""What recording costs, side by side with the peers: `make bench`."""
