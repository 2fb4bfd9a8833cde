"""Formats: the bytes of records read as values, each behind the contract `Format`.

- `avro`: reads Avro records, each by its writer's schema out of a registry
- `avro_program`: programs that read values of an Avro schema natively
- `csv`: cuts lines of separated values into one text for each column
- `format`: the contract `Format`, and the tuple of those that there are
- `json`: reads JSON texts, and the schema that Kafka Connect may write beside each
- `parsed`: the values of records as a format reads them, with their writers' types
- `protobuf`: reads Protobuf records, each by its writer's schema out of a registry
- `raw`: leaves bytes as they are, in one column of a table
- `registered`: finds the schema of each record in a registry, for Avro and Protobuf alike
- `schema_registry`: asks a schema registry over HTTP
- `slots`: the places of what native decoding reads of a value, by their paths
- `schemas`: the schemas of writers, and the names under which a registry has them
"""
