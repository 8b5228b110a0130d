"""torch's Execution Traces: operators with their shapes, without times."""
