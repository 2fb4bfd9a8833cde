"""Deltas out to Kafka, exactly once: one transaction per batch, with its progress inside."""
