"""ivm.values."""
