"""Window functions over the rows of a partition.

- `frame_aggregates`: aggregates over frames: sums, extremes, and values gathered in order
- `frames`: frames of window functions: by rows, by groups of peers, or by distance in the order
- `functions`: the interface of window functions, and those of a row's place
- `in_loop`: window functions of a whole group, as the logic of a reduce in a loop
- `measures`: values at a distance in the order, for frames by RANGE
- `rows`: rows of a partition in order with their peers, for window functions to read
- `values`: functions that take the value of another row: of a neighbour, or of a place in the frame
- `window`: the window operator: new results less old ones of each touched partition
"""
