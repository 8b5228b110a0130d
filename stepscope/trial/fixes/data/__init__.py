"""Fixes for how batches are read and made."""
