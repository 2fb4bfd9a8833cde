"""Rows as 64-bit words: their layout, interned strings, Arrow in and out, and expressions over them."""
