"""ivm.operators.base."""
