"""The names of functions, threads and files in names.jsonl."""
