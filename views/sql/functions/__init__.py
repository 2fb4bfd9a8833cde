"""Scalar functions and operators, by families.

- `arrays`: arrays: constructors, subscripts, operators and functions
- `casts`: casts, and the types that they name
- `documents`: jsonb: operators and functions
- `general`: functions of numbers, text and NULLs
- `intervals`: constants and casts of intervals, and the fields that a type keeps
- `json_paths`: the SQL/JSON path language: functions and operators
- `kinds`: functions of values of any type: their type, their NULLs, casts as calls
- `moments`: functions of dates, times, timestamps and intervals by name
- `moving`: moments moved by intervals, and intervals negated
- `named`: functions called by PostgreSQL's name and order of arguments
- `numbers`: functions and bit operators of numbers by name
- `operators`: operators: arithmetic, comparison, logic, CASE, casts and constants
- `patterns`: LIKE, SIMILAR TO, regular expressions and the functions of them
- `operators`: operators: arithmetic, comparison, logic, CASE and constants
- `patterns`: regular expressions and SIMILAR TO, with constant patterns, flags and replacements
- `records`: functions in FROM whose columns are listed with their alias
- `refused`: functions that a view cannot have, with advice
- `row_comparison`: rows of values, compared column by column as PostgreSQL does
- `rows`: rows as values, and their fields
- `set_returning`: functions that return sets, in FROM and in the select list
- `strings`: functions of text and bytes by name
- `temporal`: dates, times, timestamps and intervals: operators and the syntax of their own
- `templates`: functions that write and read values by templates
- `time_zones`: time zones: instants shown on a clock, and a clock read as an instant
- `variadic`: VARIADIC: the elements of an array as the last arguments of a call
"""
