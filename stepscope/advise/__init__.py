"""Findings: what is slow, why, what to change, and what that will gain. One file per finding."""
