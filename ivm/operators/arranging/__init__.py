"""The ends of a dataflow: inputs, arrangements of rows in traces, and captures of changes.

- `arrange`: updates sealed into the batches of a trace that many operators may read
- `arrange_monotonic`: an arrangement in a loop that only grows, without the rounds
- `capture`: changes held until they are drained, of an operator or an arrangement
- `input`: updates from outside, queued in any shard until the frontier passes their times
"""
