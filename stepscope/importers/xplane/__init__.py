"""Traces of TensorFlow's and JAX's profilers: xplane files, protocol buffers."""
