"""Checkpoints: the tables as of one time, from which a restart goes on without their history."""
