"""How far `stepscope try --ladder` gets with two slow scripts: `make ladder`."""
