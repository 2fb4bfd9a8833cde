"""Memory management: arenas, buffers, huge pages, and slabs of many small arrays.

- `arena`: contents of strings, one after another in growing blocks
- `buffers`: pointers to the contiguous data of NumPy arrays
- `huge_pages`: large blocks of huge pages, mapped once and reused by the next taker
- `process`: the memory that this process has, and that it may have
- `slab`: allocator of many small arrays, with a free list for each size
"""
