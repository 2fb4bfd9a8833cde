"""Declared tables, and the checks of a declaration.

- `connector`: the contract `Connector`, and the tuple of those that there are
- `spec`: a declared table, complete as it travels to executors and into files
- `validate`: checks a table's declaration, beyond the types of its fields
"""
