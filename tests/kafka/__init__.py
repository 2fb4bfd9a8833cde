"""Kafka and what belongs to it, as processes for tests."""
