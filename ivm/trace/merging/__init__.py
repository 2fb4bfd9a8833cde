"""Merging: two batches become one, with fuel.

- `merge`: merging two batches, with fuel: any number of updates at a time
- `merge_branchless`: merging where two sides alternate
- `merge_output`: writing the result of a merge
- `merge_state`: the state of a merge: its two sides, and the result so far
- `merge_times`: the times of a merge
"""
