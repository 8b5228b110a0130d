"""Fixes for what stops the steps: saving, evaluating, logging, callbacks, garbage collections."""
