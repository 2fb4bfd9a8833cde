"""ivm.threads."""
