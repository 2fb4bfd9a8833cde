"""Scalar functions and operators, by families.

- `arrays`: arrays: constructors, subscripts, operators and functions. Elements count from 1
- `documents`: jsonb: its operators and functions. `json` is the same type here
- `general`: functions of numbers, text and NULLs
- `moments`: functions of dates, times, timestamps and intervals by name
- `named`: calls of functions that are known by name alone
- `numbers`: functions and bit operators of numbers by name
- `operators`: operators: arithmetic, comparison, logic, CASE, casts and constants
- `patterns`: regular expressions and SIMILAR TO; the patterns, flags and replacements are …
- `row_comparison`: rows of values, compared column by column as PostgreSQL does
- `set_returning`: functions that return sets, in FROM
- `strings`: functions of text and bytes by name
- `temporal`: dates, times, timestamps and intervals: operators and the syntax of their own
"""
