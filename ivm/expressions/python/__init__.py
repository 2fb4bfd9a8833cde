"""ivm.expressions.python."""
