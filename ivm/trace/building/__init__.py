"""ivm.trace.building."""
