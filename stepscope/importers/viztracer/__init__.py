"""VizTracer's JSON: every call of every function."""
