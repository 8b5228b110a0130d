"""Shared by all frameworks' watchers: patches that can be undone, and when to act."""
