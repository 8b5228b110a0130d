"""The run folder: its format written down once, who writes it and who reads it."""
