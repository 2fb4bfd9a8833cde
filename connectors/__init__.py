"""Sources and sinks: what turns bytes in topics into typed updates, and deltas into bytes.

Knows files, Debezium envelopes, Spark and the journal of progress; knows nothing of views or HTTP.

- `checkpoint/`: checkpoints: the tables as of one time, from which a restart goes on without …
- `columns/`: typed Arrow columns made of the values of records
- `connections`: how to reach one Kafka cluster, and the schema registry beside it
- `declaration`: A table as it was declared, before anything is checked
- `decode`: records of one table's topic to typed updates
- `envelopes/`: envelopes: which rows a change record adds and takes away, each behind `Envelope`
- `errors`: errors of sources, sinks and the journal, each with its stable code
- `files/`: file topics: directories of append-only JSON-lines segments
- `formats/`: formats: the bytes of records read as values, each behind the contract `Format`
- `health`: what keeps a part of the service from its work at present
- `ingest/`: ingest: the exactly-once path from decoded chunks through the journal to pool and …
- `kafka/`: kafka: topics as the broker has them, and where reading begins
- `metadata`: columns that come from a record's coordinates instead of its contents
- `named`: tuples of named parts: what a declaration can choose from
- `offsets`: offsets: how far each source is read, and what that says of topics
- `progress/`: progress: logical times, and the durable journal that ties them to input offsets
- `quarantine/`: quarantine: records that could not be decoded, their repair and their replay
- `reader_schema`: how the columns of a table are made of its rows' images, decided once for …
- `records`: records of one partition as they come, and the changes of rows that they are decoded …
- `sinks/`: sinks: where the deltas of views go, and how they become bytes
- `source`: A partition's records again, a batch at a time
- `spark/`: the glue to Spark: it reads ranges, maps the pure decoders and hands over
- `tables/`: declared tables: what they are, and what a declaration must satisfy
- `typed_columns`: row images to typed columns: of all rows at once, and one by one where that …
"""
