"""Building: sorted batches made of updates in any order, by one thread or several.

- `build`: building a batch: a first pass over the updates measures it, a second one fills it
- `build_parallel`: batches that several threads build together
- `build_presorted`: ranges of rows that ascend as they are: nobody deals these out
- `build_unsorted`: building a batch of updates in any order
"""
