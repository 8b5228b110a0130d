"""Files other tools read: one file a format."""
