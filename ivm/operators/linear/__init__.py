"""ivm.operators.linear."""
