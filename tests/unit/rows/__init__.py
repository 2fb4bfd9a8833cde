"""Rows, from Arrow and back, and the expressions over them."""
