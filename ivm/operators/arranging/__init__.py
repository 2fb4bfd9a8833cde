"""The ends of a dataflow: inputs, arrangements of rows in traces, and captures of changes.

- `arrange`: arranging
- `arrange_monotonic`: arranging in a loop that only grows, without the rounds
- `capture`: capture
- `input`: inputs: updates queue here, in any shard, until the frontier passes their times
"""
