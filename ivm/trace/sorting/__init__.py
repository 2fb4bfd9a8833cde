"""Sorting: updates in order, partitioned among threads, consolidated.

- `bucket_sort`: a radix sort of one bucket of rows within the second-level cache
- `partition`: the distribution of rows to the threads that own them, by hash or by range of keys
- `sort`: sorting and consolidation of updates, a bucket at a time where they exceed the cache
"""
