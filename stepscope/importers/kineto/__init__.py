"""Traces of torch.profiler: Kineto's JSON."""
