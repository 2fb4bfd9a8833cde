"""Traces: immutable sorted batches of updates in a spine, and the handles that read them.

- `batch`: the memory of immutable, sorted, columnar batches, and the search for a key in one
- `building/`: batches built of updates in any order, by one thread or several
- `counts`: sums, products and negations of diffs, where an overflow is noted
- `frontier`: antichains of times as frontiers, and the compaction of times to a frontier
- `handle`: handles, which hold a trace's `since` back so that their readers can read past times
- `merging/`: two batches merged into one, with fuel
- `probe`: look-ups of many keys in a much larger batch, with overlapping cache misses
- `shims`: Python functions over the trace's kernels, for tests
- `sorting/`: sorting, partitioning among threads, and consolidation of updates
- `spine`: the trace: a spine of batches, merged so that their sizes fall geometrically
- `subscription`: imports of a trace: its present batches, then every batch sealed afterwards
- `times`: times in the product order, and the lexicographic coordinate of prioritised loops
"""
