"""connectors.tables."""
