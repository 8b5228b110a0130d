"""Terminal views: one file a question, each a function from an answer to text."""
