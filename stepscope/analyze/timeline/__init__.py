"""Everything over time, all processes on one clock: each row is made here, whoever draws it."""
