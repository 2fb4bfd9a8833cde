"""Expressions compiled to straight code over vectors of rows.

- `compiler`: compiler of expression trees to straight-line code over registers
- `error_text`: texts of row errors, interned as words, with the row's values
- `families`: families of types that share kernels
- `functions`: tables of all functions and of all kernels
- `kernels/`: typed functions over vectors, called by compiled expressions
- `lower_arithmetic`: lowering of arithmetic to steps
- `lower_cast`: lowering of casts to steps, by the pair of families
- `lower_comparison`: lowering of comparisons, logic and choices to steps
- `lower_python`: lowering of functions and casts written in Python to steps
- `lower_temporal`: lowering of functions of dates and timestamps to steps
- `lower_text`: lowering of functions of text to steps
- `program`: programs that filter and map updates, 1024 rows at a time
- `python/`: functions that are written in Python, by families of types
- `row_text`: short texts of expressions and rows, for messages
"""
