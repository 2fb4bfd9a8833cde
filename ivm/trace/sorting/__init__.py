"""Sorting: updates in order, partitioned among threads, consolidated.

- `bucket_sort`: sorting the rows of a bucket, which the second-level cache holds
- `partition`: dealing
- `sort`: sorting and consolidation of updates
"""
