"""Fixes for Keras 3 and tf_keras: what `compile` is given, and what layers compute in."""
