"""What functions, threads and files are called in names.jsonl."""
