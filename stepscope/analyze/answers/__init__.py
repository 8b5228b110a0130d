"""The top floor: one file an answer, put together from the rooms below."""
