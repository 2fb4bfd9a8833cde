"""Checkpoints: the tables as of one time, from which a restart goes on without their history.

- `files`: files of a table's rows: Arrow IPC, the table's columns and a diff for each row
- `manifest`: the manifest of a checkpoint: which files hold which tables, as of which time
- `periodic`: takes checkpoints while the service runs, on a thread of its own
- `restore`: restoring: the newest checkpoint that is whole, and that the journal goes on from
- `store`: where checkpoints are kept
- `writer`: writing checkpoints
"""
