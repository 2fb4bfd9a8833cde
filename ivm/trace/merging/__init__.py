"""Merging: two batches become one, with fuel.

- `merge`: the merge of two batches, which may stop after any value and resume from its cursors
- `merge_branchless`: the choice of the next row without branches, where the two sides alternate
- `merge_output`: the output of a merge: updates, values, keys, and runs copied from one side
- `merge_state`: the state of a merge: its two sides with their cursors, and the result so far
- `merge_times`: the merge of the two dictionaries of times, with every time advanced to `since`
"""
