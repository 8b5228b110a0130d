"""Snapshots of CUDA's memory, as torch writes them."""
