"""Joins of arrangements, and the two halves of a delta join.

- `delta_lookup`: one look-up of a delta join's path
- `delta_source`: the start of a delta join's path: what is new in one relation
- `join`: join of two arrangements on their keys
"""
