"""Two or more runs side by side: which is faster, how sure that is, and what makes it so."""
