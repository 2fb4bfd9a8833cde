"""Declared tables: what they are, and what a declaration must satisfy.

- `connector`: the connectors that topics are read through, and the contract that each keeps
- `spec`: what a declared table is
- `validate`: what a table's declaration must satisfy, beyond the types of its fields
"""
