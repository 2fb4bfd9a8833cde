"""Declared tables: what they are, and what a declaration must satisfy.

- `connector`: the contract `Connector`, and the tuple of those that there are
- `interval_keys`: keys that are intervals, in their normal form
- `patterns`: regular expressions that the whole names of topics match
- `spec`: a declared table, complete as it travels to executors and into files
- `table`: a table as its pool knows it, and its rows as the pool is given them
- `validate`: checks a table's declaration, beyond the types of its fields
- `widen`: columns of a declared table that are added, widened or dropped
"""
