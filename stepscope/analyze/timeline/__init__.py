"""Everything over time, all processes on one clock: page and exports share these rows."""
