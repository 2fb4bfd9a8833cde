"""Typed Arrow columns made of the values of records.

- `buffers`: shares memory between Arrow's buffers and NumPy's arrays
- `documents`: writes values that a writer's schema describes as JSON documents
- `encodings`: reads values whose meaning a writer's schema or the table's declaration gives
- `faults`: stable reasons why a record cannot be decoded, with a message for people
- `forms`: how a native reader makes a column of values, where it makes the same as a converter
- `to_arrow`: turns values of records into one typed Arrow column, strictly
- `unavailable`: finds Debezium's placeholder for a large value that was not logged (TOAST)
- `writer_schema`: the type of a value by its writer's schema, for Avro and Kafka Connect alike
"""
