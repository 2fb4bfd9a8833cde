"""The differential core: a pool of workers that maintains dataflows over shared arrangements.

A collection is a multiset of typed rows that changes over logical time, written as updates
`(row, time, diff)`. `ivm.dataflow` describes a computation, `ivm.pool` runs it and keeps its result
up to date. Nothing here knows of SQL, Kafka, Spark or HTTP.

- `constants`: expressions without columns, evaluated by the engine's own kernels
- `dataflow/`: descriptions of dataflows: nodes, expressions, aggregates, and the checks and …
- `errors`: errors raised to callers: each carries a stable code that the REST API repeats
- `expressions/`: expressions compiled to straight code over vectors of rows
- `installed/`: what a pool has installed: collections, pieces, holds, and accounts of their memory
- `memory/`: memory management: arenas, buffers, huge pages, and slabs of many small arrays
- `operators/`: operators: one shard's work for one node of a dataflow in one activation
- `physical/`: physical plans: the stages of a dataflow with every decision made, and their …
- `planner/`: the planner: from nodes to physical plans, over the arrangements that exist
- `pool`: the engine's only face: what `views`, `connectors` and `api` may call
- `results`: what a pool answers: deltas, snapshots, and accounts of its arrangements
- `rows/`: rows as 64-bit words: layouts, interned strings, hashes, and Arrow in and out
- `runtime/`: the runtime: schedules of stages, hydration, and what enters and leaves a pool
- `threads/`: threads: the team that shares a step's work, work stealing, and the locks of a pool
- `trace/`: traces: immutable sorted batches of updates in a spine, and the handles that read them
- `values/`: values and their types, as callers of the engine give and get them
"""
