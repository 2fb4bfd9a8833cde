"""Kernels: the typed functions over vectors that compiled expressions call.

- `arithmetic`: kernels of integer and float arithmetic
- `cast_numeric`: kernels that cast between booleans and numbers
- `comparison`: kernels that compare, decide and choose
- `decimals`: kernels of decimal arithmetic
- `from_text`: kernels that cast text to values
- `python`: the kernel that calls a Python function for each row, with the GIL once for a whole …
- `temporal`: kernels on dates and timestamps, which count days and microseconds since 1970-01-01 …
- `text`: kernels on strings. Positions and lengths count characters of UTF-8, from 1
- `to_text`: kernels that cast values to text, in PostgreSQL's forms
- `vectors`: what expression kernels work on
"""
