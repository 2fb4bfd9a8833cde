"""ivm.runtime."""
