"""The base of all operators: the operator, its ownership of keys, its states.

- `flatten`: an arrangement read as a collection: what is new in it, as plain updates
- `operator`: what all operators share
- `ownership`: which keys of a trace, which all shards read, an operator's shard owns
- `state_table`: group states by key
"""
