"""Functions of expressions that are written in Python, by families of types.

- `arrays`: functions of arrays, whose elements count from 1, and their texts
- `degrees`: trigonometry in degrees
- `document_changes`: functions that change JSON documents
- `documents`: functions of JSON documents, as of jsonb
- `forms`: casts to and from text, by type
- `intervals`: functions of intervals
- `json_paths`: functions of the SQL/JSON path language
- `moments`: functions of dates, timestamps and times of day
- `numbers`: functions of numbers; an argument outside the domain is an error
- `octets`: functions of bytes
- `orders`: comparisons of values that are stored in another order
- `patterns`: functions of regular expressions
- `rows`: functions of structs, which are rows as values
- `script`: the contract of a function written in Python
- `sets`: set-returning functions, whose sets are arrays
- `templates`: functions that write and read values by templates
- `texts`: functions of text and bytes; positions count characters from 1
"""
