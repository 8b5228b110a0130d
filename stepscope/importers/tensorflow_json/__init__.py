"""The trace.json.gz that TensorFlow's and JAX's profilers write beside their xplane."""
