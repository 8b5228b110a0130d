"""What each step's time was spent on."""
