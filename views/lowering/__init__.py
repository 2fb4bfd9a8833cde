"""Lowering: translates the logical plan into a dataflow, with every choice made.

The physical plan is a dataflow of `ivm.dataflow.nodes`, which the pool plans as they are. Chosen
here are: which arrangements are read, reused and made, the form of each join (of two, delta,
look-up), how aggregates are reduced, and which columns are kept at each step.

- `access`: access paths: the arrangements that joins read, a table's own where possible
- `aggregates`: aggregates lowered to reductions
- `compared`: comparisons with the one row of an aggregate, without pairs of rows
- `delta`: delta joins: relations joined over their arrangements, without state of their own
- `depth`: the bound on how deep a dataflow and its expressions are nested
- `joins`: joins of every kind lowered to binary joins, delta joins and look-ups
- `lower`: the recursion over the plan: each node asks its inputs only for the columns it needs
- `lowered`: a lowered plan: a dataflow node, and the position of each column in it
- `priorities`: rows that enter a recursion in ascending order of an expression
- `seek`: tables read by an arrangement at constant values
- `temporal_filter`: temporal filters lowered to events that wait for the clock
- `unnest`: the row function of `Unnest`: the elements of arrays as rows
- `with_ties`: top-k with ties, lowered to a top-k and a join with the rows equal to its last one
"""
