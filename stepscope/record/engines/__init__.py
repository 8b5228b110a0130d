"""The line and the call engine as the recording uses them."""
