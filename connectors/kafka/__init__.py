"""Kafka: named connections, topics as the broker has them, and where reading begins."""
