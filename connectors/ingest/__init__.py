"""Ingest: the exactly-once path from decoded chunks through the journal to pool and sinks.

- `apply`: applies timed batches: journals, feeds the pool, completes times, publishes
- `counts`: counts the records of decoded pieces by their outcome
- `dedup`: finds the records of keyed tables that a restarted connector has sent again
- `delivery`: the protocol from decoded chunks to the receiver, which counts every record once
- `feed`: feeds the updates of timed batches to the pool
- `interval_keys`: keys that are intervals, in their normal form
- `lag`: counts the records that each source has yet to receive
- `miscounts`: finds keys of tables whose rows do not add up
- `meter`: counters of the running service, and histograms of its durations
- `pipeline`: runs the queries that read topics, and delivers their chunks to a receiver
- `restore`: restores tables of a checkpoint into the pool, and cuts them out of it
- `timed_batch`: gathers the pieces of one logical time: updates, ranges, rejected records
- `upsert`: turns changes by key into exact updates, with the row that stood there
"""
