"""Ingest: the exactly-once path from decoded chunks through the journal to pool and sinks.

- `apply`: applies timed batches
- `counts`: counts what became of the records of decoded pieces
- `dedup`: which records of keyed tables a restarted connector has sent again
- `delivery`: from decoded chunks to the receiver: the protocol that makes every record count once
- `feed`: brings what the pipeline hands over into the pool
- `lag`: how far behind the pipeline is: the records that each source has yet to receive
- `meter`: what the service counts while it runs, and the histograms of its durations
- `pipeline`: the pipeline
- `restore`: the pool as checkpoints see it: tables are restored into it, and cut out of it
- `timed_batch`: what the pieces of one logical time hold: updates by table, ranges, rejected …
- `upsert`: changes that say only their key, as exact updates
"""
