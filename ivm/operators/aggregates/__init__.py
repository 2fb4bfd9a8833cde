"""Aggregates: the logic of one group that reductions run.

- `aggregate`: the face of a group's logic, which selections, percentiles, lists and …
- `array_agg`: all values of a group as one list, in order: the aggregates `list` and `set`
- `bigint`: arithmetic of integers wider than a machine has: what exact sums are made of
- `cell`: reading one column of values in an ordered format
- `collect`: all values of a group as one value: what lists and joined texts have in common
- `comoment`: sums of products of deviations, behind variances, correlations and regressions
- `exact_sum`: exact addition of floats, after Kulisch's long accumulator
- `linear`: counts, sums, averages and comoments
- `order_statistics`: A large group's values in order
- `ordering`: the order of a group's values
- `percentile`: the value at a fraction of a group's values
- `string_agg`: all texts of a group as one, in order: the aggregate `join`
- `top_k`: selection of a group's rows by position
"""
