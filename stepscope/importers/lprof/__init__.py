"""Lines that line_profiler counted."""
