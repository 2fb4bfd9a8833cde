"""Rewrites and lowering against recorded plans."""
