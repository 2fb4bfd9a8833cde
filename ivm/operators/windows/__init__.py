"""ivm.operators.windows."""
