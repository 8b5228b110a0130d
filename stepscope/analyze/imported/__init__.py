"""What the files of other tools have of what a recorded run has: contents and memory."""
