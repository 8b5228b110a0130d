"""Operators, kernels and the device."""
