"""Checkpoints: the tables as of one time, from which a restart goes on without their history.

- `files`: writes and reads a table's rows as Arrow IPC, with a diff for each row
- `manifest`: lists the files of a checkpoint by table, and the time that they reflect
- `periodic`: takes checkpoints while the service runs, on a thread of its own
- `restore`: restores the newest checkpoint that is whole and fits the journal
- `store`: a flat directory for checkpoints, on a disk or in an object store
- `writer`: writes a checkpoint, and deletes those that are too old
"""
