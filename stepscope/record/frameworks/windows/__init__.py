"""Windows in which a framework's own profiler records its operators."""
