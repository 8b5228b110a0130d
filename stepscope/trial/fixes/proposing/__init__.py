"""What proposals look at outside: the function that a finding names, and its source text."""
