"""Ingest: the exactly-once path from decoded chunks through the journal to pool and sinks.

- `alter`: how a view that is made anew over an altered table differs from before
- `apply`: applies timed batches: journals, feeds the pool, completes times, publishes
- `counts`: counts the records of decoded pieces by their outcome
- `dealt_tables`: the tables of a cluster, each member of which applies changes of its own rows
- `dedup`: finds the records of keyed tables that a restarted connector has sent again
- `delivery`: the protocol from decoded chunks to the receiver, which counts every record once
- `discovery`: finds the topics that match patterns, and are not read yet
- `early_replay`: reads the records of journaled times in this process, before Spark's query
- `feed`: feeds the updates of timed batches to the pool
- `freshness`: tells for how long partitions have had records that were not received
- `keyed_tables`: the tables of a pipeline by their keys, which tell the lives of a name apart
- `lag`: counts the records that each source has yet to receive
- `miscounted`: finds keys of tables whose rows do not add up
- `miscounts`: remembers the keys of tables whose rows do not add up, until they do
- `meter`: counters of the running service, and histograms of its durations
- `opening`: decides which topics a query is to read, and from where on
- `pipeline`: runs the queries that read topics, and delivers their chunks to a receiver
- `refusals`: finds the records before which a table stalls
- `restore`: restores tables of a checkpoint into the pool, and cuts them out of it
- `settings`: settings of a pipeline
- `stalls`: tables that stand still, each set for a reason, while the others go on
- `status`: the status of a pipeline, as its callers see it
- `successors`: dataflows beside views, which take their places at one time
- `tables`: the inputs of a pool as changes are applied to them, where their rows lie
- `timed_batch`: gathers the pieces of one logical time: updates, ranges, rejected records
- `upsert`: turns changes by key into exact updates, with the row that stood there
"""
