"""ivm.operators.joins."""
