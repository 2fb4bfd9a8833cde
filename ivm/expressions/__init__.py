"""ivm.expressions."""
