"""Expressions compiled to straight code over vectors of rows.

- `compiler`: expression trees as straight code over registers
- `error_text`: errors' texts as words: what went wrong, and in which row
- `families`: types by the kernels that serve them
- `functions`: all functions of expressions, and all kernels that their steps name
- `kernels/`: kernels: the typed functions over vectors that compiled expressions call
- `lower_arithmetic`: arithmetic as steps
- `lower_cast`: casts as steps: by the pair of families, each way to the kernel that it takes
- `lower_comparison`: comparisons, logic and choices as steps
- `lower_python`: functions and casts written in Python as steps
- `lower_temporal`: functions of dates and timestamps as steps
- `lower_text`: functions of text as steps
- `program`: predicates and outputs over updates: vectors of 1024 rows through straight code
- `python/`: functions of expressions that are written in Python, by families of types
- `row_text`: expressions and rows as short text, for messages
"""
