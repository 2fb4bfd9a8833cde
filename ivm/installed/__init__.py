"""ivm.installed."""
