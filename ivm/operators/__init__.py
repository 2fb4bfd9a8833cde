"""Operators: one shard's work for one node of a dataflow in one activation.

- `aggregates/`: aggregates: the logic of one group that reductions run
- `arranging/`: the ends of a dataflow: inputs, arrangements of rows in traces, and captures of …
- `base/`: the base of all operators: the operator, its ownership of keys, its states
- `errors/`: row errors: operators whose results may be errors, and the split of these from rows
- `joins/`: joins of arrangements, and the two halves of a delta join
- `linear/`: linear operators: the output of a sum of inputs is the sum of their outputs
- `loops/`: loops: entering, going round, leaving, and updates parked for later rounds
- `reductions/`: reductions: one operator for each tactic, and the histories of groups that they …
- `temporal_filter`: rows whose moment has come
- `windows/`: window functions over the rows of a partition
"""
