"""Formats: the bytes of records read as values, each behind the contract `Format`.

- `avro`: avro records to Python values, each by its writer's schema out of a registry
- `csv`: lines of separated values to one text for each column, or None for NULL
- `format`: the formats of records' values and keys, and the contract that each keeps
- `json`: JSON texts to Python values, with the schema that Kafka Connect may write beside each
- `parsed`: what a format makes of the bytes of records
- `protobuf`: protobuf records to Python values, each by its writer's schema out of a registry
- `raw`: bytes as they are, in one column of a table
- `registered`: values whose writers' schemas are in a registry
- `schema_registry`: A schema registry over HTTP
- `schemas`: the schemas of writers, and the names under which a registry has them
"""
