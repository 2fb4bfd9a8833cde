"""Kernels of operators, through their Python-visible shims."""
