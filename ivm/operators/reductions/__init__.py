"""Reductions: one operator for each tactic, and the histories of groups that they read.

- `accumulable`: reduction at the root by an accumulation: a state for each group, and no history
- `agenda`: reminders by time: which items to look at when a loop's sweep gets there
- `distinct_monotonic`: distinct rows of a collection that only grows: the set of the rows that …
- `histories`: the state of a reduction in a loop: for each key what came in, by value and time
- `in_loop`: reduction in a loop: a group's output at every time at which it can change
- `ordered`: reduction at the root by a logic that may stop early
- `ordered_walk`: A walk through the values of a group in order, to either side of a place
- `sorted_entries`: A sorted array of entries of `stride` words each, of which the leading ones …
- `touched_groups`: the groups of a trace that a step touches, one after another, in the order of …
"""
