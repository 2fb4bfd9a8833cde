"""connectors.ingest."""
