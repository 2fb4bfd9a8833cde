"""connectors.quarantine."""
