"""Files that other tools read: one module per format."""
