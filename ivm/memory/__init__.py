"""Memory management: arenas, buffers, huge pages, and slabs of many small arrays.

- `arena`: contents of strings, one after another in blocks that grow with what they hold
- `buffers`: where numpy's arrays lie
- `huge_pages`: large blocks of memory: mapped, and kept for the next taker when they are given …
- `slab`: memory for many small arrays that grow and go
"""
