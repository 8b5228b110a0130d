"""Ends without a loop that could be steps."""

print("nothing to do")
