"""Envelopes of change-data-capture records: what one record does to a table."""
