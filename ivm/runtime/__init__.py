"""The runtime: schedules of stages, hydration, and what enters and leaves a pool.

- `account`: accounts of the work of stages and loops, kept while they run
- `agreement`: the members of a cluster act alike on what each has found; a pool alone does so
- `bounds`: bounds of a recursion: rounds, updates, memory and time
- `export`: hands out sealed batches of an arrangement, to be written beside the steps
- `feed`: packs rows of Arrow batches and puts them into the queues of an input
- `hydration`: lets a new dataflow catch up with the pool, which goes on meanwhile
- `lookups`: finds the rows of many keys at once in the published batches of an arrangement
- `loop`: the stages of a body, run round by round until nothing changes or a bound is met
- `meeting`: the stages at which the processes of a cluster exchange rows
- `mirror`: a subscription with a trace of its own, for a dataflow that catches up
- `readers`: deltas, snapshots and errors of a pool, as Arrow batches
- `schedule`: the stages of the root; a step runs those that something new has reached
- `stage`: one operator in every shard, or one for all shards
- `string_gc`: releases strings that no batch, group or waiting update uses any more
"""
