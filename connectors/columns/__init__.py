"""connectors.columns."""
