"""What every framework's room is built from: patches that can be undone, and when to act."""
