"""ivm.operators.aggregates."""
