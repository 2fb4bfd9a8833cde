"""Descriptions of dataflows: nodes, expressions, aggregates, and the checks and traversals of them.

- `aggregates`: functions of many rows
- `arguments`: what callers hand to a pool, refused with a typed error before anything is changed
- `arrangement_order`: the column order of arrangements
- `combinators`: nodes made of others: combinations that have an operator of their own in no …
- `delta_join`: the paths of a delta join, from what shall be equal
- `exhaustive`: tables that must have an entry for each of a closed set of names, checked at import
- `expressions`: typed scalar expressions over one row: the trees that `Map` and `Filter` evaluate
- `node_hash`: nodes that know their hash
- `nodes`: descriptions of dataflows: what `Pool.install` makes into operators
- `text`: expressions, aggregates, window calls and orders as text; `$i` is column i, as in …
- `traversal`: traversal of dataflows: the nodes, expressions and names that a node reads
- `validate`: whether nodes fit together
"""
