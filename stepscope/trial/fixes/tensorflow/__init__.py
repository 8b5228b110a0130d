"""Fixes for TensorFlow: its input pipelines, and the functions that it makes into graphs."""
