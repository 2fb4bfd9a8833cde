"""Rows as 64-bit words: layout, interned strings, Arrow in and out, expressions over them."""
