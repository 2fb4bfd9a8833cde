"""Answers: the JSON of every answer, as OpenAPI describes it, with an example of each.

A member without a value is null, and one that does not apply is left out.

- `base`: parts that several answers share: columns, progress, and the form of an example
- `health`: the service as a whole, and problem documents
- `plans`: plans and arrangements
- `quarantine`: records that could not be decoded
- `replacements`: changes of definitions
- `rows`: rows, and those that could not be computed
- `sources`: sources
- `views`: views, their sinks and topics
"""
