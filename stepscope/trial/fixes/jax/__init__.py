"""Fixes for JAX."""
