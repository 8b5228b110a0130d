"""Answers from a run: one file per question, each a plain function from a run to its answer."""
