"""What is known of each framework: its packages, its files, and its words for advice."""
