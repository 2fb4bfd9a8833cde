"""Window functions over the rows of a partition.

- `frames`: frames of window functions: by rows, by groups of peers, or by distance in the order
- `functions`: the window functions: numbers of rows, values of neighbours, and what frames hold
- `in_loop`: window functions of a whole group, as a logic of the reduction in loops
- `rows`: rows in order with their peers: what a window function sees of a partition
- `window`: window functions
"""
