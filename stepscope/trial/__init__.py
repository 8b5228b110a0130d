"""`stepscope try`: fixes applied from outside, each measured against the script as it is."""
