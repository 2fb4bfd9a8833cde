"""Linear operators: the output of a sum of inputs is the sum of their outputs.

- `consolidate`: equal updates of an activation added up, and zeros dropped
- `exchange`: every row of a sum sent to the shard that owns its key
- `flat_map`: a Python function from rows to any number of rows, called once for a vector of updates
- `project`: a row's columns moved into another format, without evaluating expressions
- `union`: sums and differences of collections
"""
