"""Values and their types, as callers of the engine give and get them.

- `python_values`: python values as Arrow's, wherever a caller gives some
- `types`: column types beyond Arrow's plain ones; all others are used as Arrow spells them
"""
