"""Which work in the user's source gives the same result in every step."""
