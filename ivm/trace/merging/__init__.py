"""ivm.trace.merging."""
