"""Descriptions of dataflows: nodes, expressions, aggregates, and the checks and traversals of them.

- `aggregates`: aggregates, calls over windows, and the orders that they follow
- `arguments`: arguments of a pool, checked with typed errors before any change
- `arrangement_order`: column order of an arrangement: the key first, then the others
- `combinators`: semijoins, antijoins, EXCEPT ALL, INTERSECT ALL and mixed reductions of nodes
- `copied_sides`: small sides of joins, which all processes of a cluster get
- `delta_join`: paths of a delta join, chosen from classes of equal columns
- `distribution`: exchanges in front of what needs equal keys in one process of a cluster
- `exchange_node`: the exchange of rows between the processes of a cluster
- `exhaustive`: tables with exactly one entry for each of a closed set of names
- `expressions`: typed scalar expressions over one row, evaluated by `Map` and `Filter`
- `join_nodes`: arrangements, and joins of them
- `loop_nodes`: fixed points, the names that they bind, and the nodes that read these
- `node_hash`: structural hashes and equality of nodes, and answers about them, computed once each
- `node`: the base of nodes: all that others must know of a kind, said once in its class
- `nodes`: nodes that denote collections, installed by `Pool.install`
- `partial_sums`: what processes may add up before rows travel to the owners of their keys
- `schema_checks`: checks that columns, keys and expressions fit a schema
- `selectivity`: the share of rows for which a condition is true
- `text`: texts of expressions, aggregates, window calls and orders, as in `sum($1)`
- `traversal`: the nodes and names that a node reads
- `validate`: checks that nodes fit together
"""
