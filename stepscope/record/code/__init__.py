"""The script's code: which of it is the user's, and where its loops are."""
