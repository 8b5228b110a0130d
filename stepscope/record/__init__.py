"""Recording: what runs inside the user's process. Standard library and the native core only."""
