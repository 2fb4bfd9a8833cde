"""Aggregates and window functions: their syntax, and the calls that a query computes.

- `calls`: aggregates: bound for the clause they stand in, collected by the query that computes them
- `documents`: aggregates of jsonb: joined texts of the members, read as one document
- `frames`: window frames: ROWS, GROUPS or RANGE BETWEEN two constant ends
- `hypothetical`: ranks and shares of rows that are not there, WITHIN GROUP
- `intervals`: sums, averages and percentiles of intervals
- `occurrence`: one occurrence of an aggregate: its parts, and the query that computes it
- `ordered`: ordered-set and ordered aggregates: lists, texts, percentiles, extremes
- `statistics`: variances, standard deviations, correlations and regressions
- `window_plans`: window calls as nodes of the plan
- `windows`: window functions: the clauses of OVER, and the calls that a query computes
"""
