"""Values and their types, as callers of the engine give and get them.

- `calendar`: days since 1970-01-01 and dates of the proleptic Gregorian calendar
- `documents`: JSON documents and their canonical texts
- `forms`: texts of values in PostgreSQL's forms, written and read
- `interval_fields`: fields of intervals, as `extract` and `date_trunc` name them
- `interval_text`: texts of intervals, read in every form of PostgreSQL's and written in one
- `intervals`: intervals: arithmetic on their three parts
- `intervals`: intervals: their texts, and arithmetic on their three parts
- `json_path`: the SQL/JSON path language, evaluated on documents
- `json_path_syntax`: the SQL/JSON path language, parsed to trees
- `letter_case`: upper and lower case, one character for one, as in the locale C.UTF-8
- `moment_fields`: fields of the text of a date, a time or an interval
- `moment_text`: dates and times of day read from text, in every form of PostgreSQL's
- `numeric_scales`: digits after the point that PostgreSQL gives results of numeric
- `patterns`: regular expressions of PostgreSQL, matched in polynomial time
- `python_values`: exact conversion of Python values to Arrow arrays
- `regular_matching`: matching of regular expressions on sets of places in a text
- `regular_syntax`: advanced regular expressions of PostgreSQL, parsed to trees
- `similar`: patterns of LIKE and SIMILAR TO with an escape character, rewritten
- `number_templates`: templates that format and parse numbers, as of `to_char` and `to_number`
- `patterns`: regular expressions of PostgreSQL, matched by RE2 in linear time
- `python_values`: exact conversion of Python values to Arrow arrays
- `template_reader`: timestamps read by templates, as of `to_date` and `to_timestamp`
- `template_tokens`: tokens of templates that format and parse moments
- `template_writer`: timestamps and intervals written by templates, as of `to_char`
- `types`: column types beyond the plain ones of Arrow: UUID, JSON, NUMERIC, INTERVAL
- `zones`: time zones by abbreviation, fixed offset or name
"""
