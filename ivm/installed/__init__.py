"""What a pool has installed: collections, pieces, holds, and accounts of their memory.

- `accounting`: what a pool's memory is held for
- `assembly`: assembly
- `catalog`: the catalog
- `collection`: collections: the inputs and the installed dataflows of a pool
- `estimates`: how many rows a dataflow's collections have, foretold from those that are there
- `forecast`: what an installation would reuse and create
- `holds`: holds: what keeps collections of a pool readable as of earlier times
- `pieces`: what the pool maintains
- `references`: which pieces live
- `row_errors`: errors of rows
"""
