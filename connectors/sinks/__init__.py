"""Sinks: where the deltas of views go, and how they become bytes.

- `avro`: changes as Avro, in the framing of Confluent's registry
- `avro_columns`: typed columns as Avro: the schema of a row, and its values in Avro's binary form
- `deltas`: deltas of views as lines of file topics, one topic per view
- `digest`: A view's state as one number, kept up to date by its deltas
- `encoding`: how the changes of a view become bytes: one face over JSON and Avro
- `envelopes`: from the deltas of a view to the messages of its topic, in one of three envelopes
- `json`: changes as JSON, for lines of file topics and for messages of Kafka alike
- `json_rows`: typed rows to JSON values that keep them exactly
- `json_texts`: rows as JSON texts, made column by column
- `kafka/`: deltas out to Kafka, exactly once: one transaction per batch, with its progress inside
- `net`: what changed per key at one time: the row that was there, the row that is there now
- `origin`: what a Debezium event says of where it comes from, and of what happened
- `sink`: what every sink of deltas does, and what it is told
- `target`: where in Kafka the changes of a view go, and in which form
"""
