"""Typed Arrow columns made of the values of records.

- `buffers`: arrow's buffers as NumPy's arrays, and back
- `encodings`: values that a writer's schema, or the table's declaration, gives a meaning to …
- `faults`: why a record cannot be decoded: stable reasons, with a message for people
- `to_arrow`: values of records to one typed Arrow column, strictly
- `unavailable`: what Debezium writes in place of a large value that the database did not log …
- `writer_schema`: what a writer's schema says of a value
"""
