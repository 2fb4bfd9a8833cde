"""The differential core: a pool of workers that maintains dataflows over shared arrangements.

A collection is a multiset of typed rows that changes over logical time, written as updates
`(row, time, diff)`. `ivm.dataflow` describes a computation, `ivm.pool` runs it and keeps its result
up to date. Nothing here knows of SQL, Kafka, Spark or HTTP.

- `cluster/`: a pool whose keys are divided among processes, which run the same dataflows
- `constants`: expressions without columns, evaluated by the engine's own kernels
- `dataflow/`: nodes, expressions and aggregates that describe dataflows, with checks and traversals
- `deep`: deep stacks, for work that recurses beyond Python's default
- `errors`: errors raised to callers: each carries a stable code that the REST API repeats
- `expressions/`: compiler of expressions to straight-line code, and its kernels
- `installed/`: the catalog of a pool: collections, their pieces, holds, and accounts of memory
- `installer`: plans dataflows, builds them, and lets them catch up with their pool
- `memory/`: arenas, slabs, huge pages and buffers
- `operators/`: operators, each of which does one shard's work for one node in an activation
- `physical/`: physical plans: the stages of a dataflow, with every decision made
- `planner/`: the planner from nodes to physical plans, over the arrangements that exist
- `pool`: the pool, which runs dataflows: the face for `views`, `connectors` and `api`
- `results`: answers of a pool: deltas, snapshots, and accounts of its arrangements
- `rows/`: rows as 64-bit words: layouts, interned strings, hashes, and Arrow in and out
- `runtime/`: schedules of stages, hydration, feeds and readers
- `threads/`: the team that shares a step's work, work stealing, and locks
- `trace/`: immutable sorted batches of updates in spines, and handles that read them
- `values/`: types, texts and arithmetic of values, shared with callers
"""
