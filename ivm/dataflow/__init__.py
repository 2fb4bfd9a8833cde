"""ivm.dataflow."""
