"""Descriptions of dataflows: nodes, expressions, aggregates, and the checks and traversals of them.

- `aggregates`: aggregates, calls over windows, and the orders that they follow
- `arguments`: arguments of a pool, checked with typed errors before any change
- `arrangement_order`: column order of an arrangement: the key first, then the others
- `combinators`: semijoins, antijoins, EXCEPT ALL, INTERSECT ALL and mixed reductions of nodes
- `delta_join`: paths of a delta join, chosen from classes of equal columns
- `exhaustive`: tables with exactly one entry for each of a closed set of names
- `expressions`: typed scalar expressions over one row, evaluated by `Map` and `Filter`
- `node_hash`: structural hashes and equality of nodes, and answers about them, computed once each
- `nodes`: nodes that denote collections, installed by `Pool.install`
- `text`: texts of expressions, aggregates, window calls and orders, as in `sum($1)`
- `traversal`: the nodes, expressions and names that a node reads
- `validate`: checks that nodes fit together
"""
