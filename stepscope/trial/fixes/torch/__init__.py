"""Fixes for what torch computes."""
