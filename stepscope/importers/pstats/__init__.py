"""Statistics of cProfile."""
