"""Window functions over the rows of a partition.

- `frames`: frames of window functions: by rows, by groups of peers, or by distance in the order
- `functions`: numbers of rows, values of neighbours, and values and sums of frames
- `in_loop`: window functions of a whole group, as the logic of a reduce in a loop
- `rows`: rows of a partition in order with their peers, for window functions to read
- `window`: the window operator: new results less old ones of each touched partition
"""
