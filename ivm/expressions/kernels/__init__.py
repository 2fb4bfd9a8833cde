"""ivm.expressions.kernels."""
