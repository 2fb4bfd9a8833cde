"""Functions of expressions that are written in Python, by families of types.

- `arrays`: functions of arrays, whose elements count from 1, and their text
- `documents`: functions of JSON documents, as PostgreSQL's of jsonb
- `forms`: casts to and from text, by type
- `intervals`: functions of intervals
- `moments`: functions of dates, timestamps and times of day that are rarely on a hot path
- `numbers`: functions of numbers, as PostgreSQL has them
- `patterns`: functions of regular expressions
- `script`: what a function written in Python is to the assembly
- `sets`: what functions that return sets return, as arrays
- `texts`: functions of text and bytes, as PostgreSQL has them; positions count characters from 1
"""
