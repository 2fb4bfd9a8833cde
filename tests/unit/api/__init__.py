"""The service's parts, with the real pool, catalog, journal and topics, but without Spark."""
