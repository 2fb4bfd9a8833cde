"""ivm.trace.sorting."""
