"""ivm.operators.errors."""
