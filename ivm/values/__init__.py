"""Values and their types, as callers of the engine give and get them.

- `calendar`: days since 1970-01-01 and dates of the proleptic Gregorian calendar, of any year
- `documents`: JSON documents and their canonical texts
- `forms`: texts of values in PostgreSQL's forms, written and read
- `interval_fields`: fields of intervals, as `extract` and `date_trunc` name them
- `intervals`: intervals: their texts, and arithmetic on their three parts
- `letter_case`: upper and lower case, one character for one, as PostgreSQL has them in C.UTF-8
- `patterns`: regular expressions as of PostgreSQL, matched by RE2 in linear time
- `python_values`: python values as Arrow's, wherever a caller gives some
- `templates`: the templates of `to_char`, `to_date` and `to_timestamp` (PostgreSQL, "Template …
- `types`: column types beyond Arrow's plain ones; all others are used as Arrow spells them
- `zones`: abbreviations of time zones that PostgreSQL knows by default, and names in any case
"""
