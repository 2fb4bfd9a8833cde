"""The base of all operators: the operator, its ownership of keys, its states.

- `budget`: what a hydration may take: operators at work look at it
- `flatten`: an arrangement read as a collection: the new updates of its batches
- `mesh`: the meetings of the processes that share the keys of a cluster, as the engine sees them
- `operator`: the operator, its region (the position of its scope), and its readers of traces
- `ownership`: the keys of a trace that an operator's shard owns, and a cursor over them
- `state_table`: a hash table from the keys of groups to their states
"""
