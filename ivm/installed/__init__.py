"""What a pool has installed: collections, pieces, holds, and accounts of their memory.

- `accounting`: accounts of a pool's memory, by arrangement and operator's state
- `assembly`: builds a physical plan for a pool, as pieces that others can find
- `catalog`: the collections of a pool, their pieces, and the arrangements that others can find
- `collection`: an input or an installed dataflow of a pool
- `core`: the parts that steps, installations and readers of a pool share, and their removal
- `estimates`: estimates the rows of a dataflow's collections from those that are there
- `failures`: dataflows that cannot be kept up to date, each with its reason in words
- `filling`: a dataflow that catches up with the pool, while that goes on
- `forecast`: foretells the arrangements that an installation would reuse and create
- `holds`: keeps collections readable as of earlier times
- `operators`: accounts of a dataflow's operators: rows, bytes, time, and rounds of loops
- `pieces`: the stages that produce one arrangement or one capture
- `reads`: rows of collections, by key or all, at the last completed time or one that is held
- `references`: keeps the pieces that an input or a dataflow needs, and finds those unused
- `row_errors`: counts the errors of rows in each piece of a dataflow, and can retract them
- `steps`: runs the dataflows on what was fed, and drops those that fail
- `switches`: lets readers see a switch of names at one time as a whole
- `unused_strings`: releases strings that no row has any more, once they have grown enough
"""
