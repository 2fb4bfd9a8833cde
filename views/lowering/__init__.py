"""Lowering: from the logical plan to the physical one, with every choice made.

The physical plan is a dataflow of `ivm.dataflow.nodes`, which the pool plans as they are. Chosen
here are: which arrangements are read, reused and made, the form of each join (of two, delta,
look-up), how aggregates are reduced, and which columns are kept at each step.

- `access`: arrangements that joins read: a table's own where possible, so that views share it
- `aggregates`: aggregates as reductions
- `delta`: delta joins: relations joined without state of their own, over their arrangements
- `depth`: the bound on how deep a dataflow and its expressions are nested
- `joins`: joins of every kind as dataflows
- `lower`: the plan's nodes as dataflow nodes; each asks its inputs only for the columns it needs
- `lowered`: A lowered plan: a dataflow node and where its columns are
- `temporal_filter`: rows that come and go with time as events that wait for the clock
- `unnest`: the elements of arrays as rows: what `Unnest` asks of the engine's `FlatMap`
- `with_ties`: top-k with ties: all rows that equal the last one belong to it
"""
