"""Linear operators: the output of a sum of inputs is the sum of their outputs.

- `consolidate`: consolidation
- `exchange`: exchange: every row of a sum goes to the shard that owns its key
- `flat_map`: A Python function from rows to any number of rows, called once for each vector of …
- `project`: projection: a row's columns moved into another format, without evaluating anything
- `union`: sums and differences of collections
"""
