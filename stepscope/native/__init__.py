"""The native core, and its logic again in plain Python (`reference.py`) for the tests."""
