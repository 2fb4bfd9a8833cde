"""ivm.operators.reductions."""
