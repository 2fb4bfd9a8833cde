"""Building: sorted batches made of updates in any order, by one thread or several.

- `build`: a batch of consolidated updates: one pass measures its arrays, a second one fills them
- `build_parallel`: a batch that several threads build together, each a range of the keys
- `build_presorted`: rows that ascend already, cut into ranges without being partitioned
- `build_unsorted`: a batch of updates in any order, sorted a bucket at a time
"""
