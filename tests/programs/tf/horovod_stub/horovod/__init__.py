"""A stand-in for Horovod: two processes that meet in a folder."""
