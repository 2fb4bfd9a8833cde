"""Kernels: the typed functions over vectors that compiled expressions call.

- `arithmetic`: integer and float arithmetic
- `cast_numeric`: casts between booleans and numbers
- `comparison`: comparisons, three-valued logic, `case` and `coalesce`
- `decimals`: decimal arithmetic
- `from_text`: casts from text
- `python`: calls of a Python function for each row, with the GIL taken once for a vector
- `temporal`: functions of dates (days) and timestamps (microseconds) since 1970-01-01
- `text`: functions of strings; positions count characters from 1
- `to_text`: casts to text, in PostgreSQL's forms
- `vectors`: vectors of words, NULLs and errors, and the frame of a kernel
"""
