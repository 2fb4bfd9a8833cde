"""Sinks: where the deltas of views go, and how they become bytes.

- `avro`: encodes changes as Avro, in the framing of Confluent's registry
- `avro_columns`: derives the Avro schema of a row, and writes values in Avro's binary form
- `compaction`: lets segments of a delta topic become one, with the rows they add up to
- `connect`: encodes changes as JSON with the schema beside it, as Kafka Connect reads it
- `deltas`: appends deltas of views to file topics, one topic per view
- `digest`: sums up a view's state in one number, kept up to date by its deltas
- `encoding`: the contract `Encoding` over JSON and Avro
- `envelopes`: turns the deltas of a view into messages, in one of three envelopes
- `frontiers`: decides when a view that does not change is told that it reflects more
- `headers`: makes headers of messages out of columns of their rows
- `json`: encodes changes as JSON, for lines of file topics and for messages of Kafka alike
- `json_rows`: turns typed rows into JSON values that keep them exactly
- `json_texts`: writes rows as JSON texts, out of the buffers of their columns
- `kafka/`: publishes deltas to Kafka exactly once: one transaction per batch
- `native/`: rows to bytes natively, cell by cell
- `net`: nets the changes of each key at one time: the former row and the new one
- `origin`: the `source` block and operation of a Debezium event that a sink writes
- `sink`: the contract `Sink`, and the values that sinks are given
- `target`: the topic, connection and form in which the changes of a view are published
"""
