"""Functions of expressions that are written in Python, by families of types.

- `arrays`: functions of arrays, whose elements count from 1, and their text
- `documents`: JSON documents as PostgreSQL's jsonb: canonical texts, and functions of them
- `forms`: values as text, in PostgreSQL's forms
- `intervals`: intervals: their text, and arithmetic on their three parts
- `moments`: functions of dates, timestamps and times of day that are rarely on a hot path
- `numbers`: functions of numbers, as PostgreSQL has them
- `patterns`: regular expressions: PostgreSQL's, matched by RE2 in time linear in the text
- `script`: what a function written in Python is to the assembly
- `sets`: what functions that return sets return, as arrays
- `texts`: functions of text and bytes, as PostgreSQL has them; positions count characters from 1
"""
