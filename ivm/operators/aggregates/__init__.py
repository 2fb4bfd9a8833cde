"""Aggregates: the logic of one group that reductions run.

- `aggregate`: the interface of a reduce's logic: a function from a group's values to output values
- `array_agg`: all values of a group as one list, in order: the aggregates `list` and `set`
- `bigint`: arithmetic of integers wider than a machine word, for exact sums
- `cell`: the reading of one column of values in an ordered format
- `collect`: the base of `list`, `set` and `join`: all values of a group become one value
- `comoment`: sums of products of deviations, behind variances, correlations and regressions
- `exact_sum`: exact sums of floats, in Kulisch's long accumulator
- `linear`: counts, sums, averages and comoments, whose states add up
- `order_statistics`: a large group's values in order, so that a retraction costs a logarithm
- `ordering`: the order of a group's values: by words, and by content where strings tie
- `percentile`: the value at a fraction of a group's values, continuous or discrete
- `string_agg`: all texts of a group as one, in order: the aggregate `join`
- `top_k`: selection of a group's rows by position: top-k, min and max, thresholds of counts
"""
