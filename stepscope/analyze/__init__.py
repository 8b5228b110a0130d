"""Answers from a run: one file a question, each a plain function from a run to its answer."""
