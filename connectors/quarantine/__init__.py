"""Quarantine: records that could not be decoded, their repair and their replay.

- `dead_letters`: sends quarantined records to dead-letter topics, byte for byte
- `replay`: decodes quarantined records again, as corrections
- `reread`: reads records again that were read before, by their offsets
- `store`: keeps records that could not be decoded, and the decisions about them
- `superseded`: finds corrections that would overwrite a newer change of the same key
"""
