"""Row errors: operators whose results may be errors, and the split of these from rows.

- `evaluate`: fallible operators: expressions, and aggregates that may overflow
- `split_errors`: the split of results into rows and errors
"""
