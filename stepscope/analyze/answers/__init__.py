"""The top layer: one file per answer, put together from the packages below."""
