"""Aggregates and window functions: their syntax, and the calls that a query computes.

- `calls`: aggregates: collected by the clause they stand in, computed by its query
- `documents`: aggregates that make jsonb: joined texts of the members, read as one document
- `frames`: frames: ROWS, GROUPS or RANGE BETWEEN two ends, which are constant
- `occurrence`: one aggregate where it stands in a query
- `ordered`: aggregates that look at a group's values in order
- `statistics`: variances, standard deviations, correlations and regressions
- `windows`: window functions: what OVER says, and the calls that a query computes over its rows
"""
