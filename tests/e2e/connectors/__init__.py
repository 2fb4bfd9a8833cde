"""Connectors with a real Spark."""
