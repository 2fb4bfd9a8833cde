"""Quarantine: records that could not be decoded, their repair and their replay.

- `dead_letters`: quarantined records on their way to dead-letter topics, byte for byte
- `replay`: quarantined records on their way back
- `reread`: records that were read before, read again by their offsets
- `store`: records that could not be decoded
- `superseded`: which changes by key, come late, were overtaken
"""
