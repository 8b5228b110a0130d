"""What fixes are made of inside the user's process."""
