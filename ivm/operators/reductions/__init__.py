"""Reductions: one operator for each tactic, and the histories of groups that they read.

- `accumulable`: reduce at the root by an accumulation: a state for each group, and no history
- `accumulable_in_loop`: the same in a loop, by histories of states
- `agenda`: reminders by time: the items to evaluate when a loop's sweep gets there
- `distinct_monotonic`: distinct rows of a collection that only grows: the set of known rows
- `histories`: the state of a reduce in a loop: for each key its input by value and time
- `in_loop`: reduce in a loop: a group's output at every time at which it can change
- `ordered`: reduce at the root by a logic that may stop early: top-k, min, max, percentiles
- `ordered_walk`: a walk through a group's values in order, to either side of a place
- `sorted_entries`: a sorted array of entries, of which leading words are compared and diffs added
- `state_histories`: by how much the state of each key's group changes in each round of a loop
- `sweeping`: what every reduction in a loop has: an agenda of keys, and shards that own them
- `touched_groups`: the groups of a trace that a step touches, in the order of their keys
"""
