"""ivm.physical."""
