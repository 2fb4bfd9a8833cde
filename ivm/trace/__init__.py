"""Traces: immutable sorted batches of updates in a spine, and the handles that read them.

- `batch`: the memory of batches, and the search for a key
- `building/`: building: sorted batches made of updates in any order, by one thread or several
- `frontier`: antichains of times as frontiers, and the compaction of times to a frontier
- `handle`: handles: what readers keep a trace from losing
- `merging/`: merging: two batches become one, with fuel
- `probe`: look-ups of many keys in a batch that is much larger, with their cache misses at the …
- `shims`: python's faces of the trace's kernels, which the engine calls without the GIL
- `sorting/`: sorting: updates in order, partitioned among threads, consolidated
- `spine`: A spine of batches: appended at one end, merged so that sizes fall geometrically
- `subscription`: import of a trace
- `times`: python's face of times: the lexicographic coordinate of prioritised loops
"""
