"""ivm.operators.loops."""
