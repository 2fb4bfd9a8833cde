"""Row errors: operators whose results may be errors, and the split of these from rows.

- `evaluate`: operators whose rows may be errors: expressions, and aggregates that may overflow
- `split_errors`: results that are errors told apart from those that are rows
"""
