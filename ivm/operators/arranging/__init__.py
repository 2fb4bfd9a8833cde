"""ivm.operators.arranging."""
