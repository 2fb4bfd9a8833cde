"""Operators: one shard's work for one node of a dataflow in one activation.

- `aggregates/`: functions of one group's values, which reductions apply
- `arranging/`: inputs, arrangements of rows in traces, and captures of changes
- `base/`: the operator, its ownership of keys, its states, and traces read as collections
- `errors/`: operators whose results may be row errors, and the split of these from rows
- `joins/`: joins of two arrangements, and the sources and look-ups of delta joins
- `linear/`: linear operators: the output of a sum of inputs is the sum of their outputs
- `loops/`: entry to a loop, its variable and feedback, exit, and updates parked for later rounds
- `reductions/`: an operator for each kind of reduce, and the histories of groups in loops
- `temporal_filter`: a clock that lets rows in once their moments have come
- `windows/`: window functions over the rows of a partition
"""
