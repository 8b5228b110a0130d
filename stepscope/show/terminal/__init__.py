"""Terminal views: one module per question, each a function from an answer to text."""
