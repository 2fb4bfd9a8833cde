"""Declared tables: what they are, and what a declaration must satisfy.

- `connector`: the contract `Connector`, and the tuple of those that there are
- `patterns`: regular expressions that the whole names of topics match
- `spec`: a declared table, complete as it travels to executors and into files
- `validate`: checks a table's declaration, beyond the types of its fields
- `widen`: columns of a declared table that are added, widened or dropped
"""
