"""ivm.memory."""
