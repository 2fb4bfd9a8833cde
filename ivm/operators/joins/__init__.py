"""Joins of arrangements, and the two halves of a delta join.

- `bounded_rows`: the rows of a trace on one side of a bound that changes, without pairs
- `delta_lookup`: a look-up of a delta join's path, in an arrangement and without a state
- `delta_source`: the source of a delta join's path: the new updates of one relation
- `join`: the join of two arrangements on their keys
"""
