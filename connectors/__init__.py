"""Sources and sinks: bytes in topics become typed updates, and deltas of views become bytes.

Knows files, Debezium envelopes, Spark and the journal of progress; knows nothing of views or HTTP.

- `attribution`: says which table an error of reading is about
- `checkpoint/`: saves the tables as of one time, so that a restart skips their history
- `columns/`: makes typed Arrow columns of the values of records
- `columnwise`: turns records into typed columns natively, where they are as records mostly are
- `connections`: addresses and credentials of a Kafka cluster and its schema registry
- `declaration`: a table as it was declared, before anything is checked
- `decode`: turns the records of one table's topic into typed updates
- `envelopes/`: turn a change record into the rows that it adds and takes away
- `errors`: errors of sources, sinks and the journal, each with its stable code
- `files/`: file topics: directories of append-only JSON-lines segments
- `formats/`: read the bytes of records as values
- `health`: the faults that keep parts of the service from their work at present
- `inference/`: finds out what a topic holds: format, envelope, columns and primary key
- `ingest/`: the exactly-once path from decoded chunks through the journal to pool and sinks
- `kafka/`: the topics of a cluster, and the offsets at which reading begins
- `metadata`: columns that come from a record's coordinates instead of its contents
- `named`: maps of named parts, of which a declaration chooses one
- `native/`: turns records into columns natively, without an object for a record or a value
- `offsets`: the positions of each source, and the offsets of topics that follow from them
- `progress/`: logical times, and the durable journal that ties them to input offsets
- `quarantine/`: keeps records that could not be decoded, for their repair and replay
- `reader_schema`: resolves a table's columns against the schema of one writer
- `records`: raw records of one partition, and the changes of rows decoded from them
- `sinks/`: publish the deltas of views
- `source`: the contract of a source: a partition's records, a batch at a time
- `spark/`: lets Spark read ranges of topics and run the decoders
- `streams`: a table's reading of one topic, and its name
- `tables/`: declared tables, and the checks of a declaration
- `typed_columns`: turns row images into typed columns, and finds the rows at fault
"""
