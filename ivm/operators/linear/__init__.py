"""Linear operators: the output of a sum of inputs is the sum of their outputs.

- `combiner`: few updates in the place of many that add up to the same counts and sums
- `consolidate`: equal updates of an activation added up, and zeros dropped
- `exchange`: every row of a sum sent to the shard that owns its key
- `flat_map`: a Python function from rows to any number of rows, called once for a vector of updates
- `own`: the rows that this process owns, of a collection that every process has
- `project`: a row's columns moved into another format, without evaluating expressions
- `scatter`: every row sent to the process that owns its key, or to all
- `union`: sums and differences of collections
"""
