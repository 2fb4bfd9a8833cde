"""The runtime: schedules of stages, hydration, and what enters and leaves a pool.

- `export`: sealed batches
- `feed`: where updates come in: the rows of Arrow batches go to the queues of an input
- `hydration`: hydration: a new dataflow catches up with the pool, which goes on meanwhile
- `lookups`: look-ups of many keys at once in what an arrangement has published
- `mirror`: A mirror: a subscription with a trace of its own, for a dataflow that catches up
- `readers`: what leaves the pool: deltas, snapshots and errors, as Arrow batches
- `schedule`: A schedule
- `stage`: stages: one operator in every shard, or one for all shards, and loops of stages
- `string_gc`: releasing strings that no batch, group or waiting update uses any more
"""
