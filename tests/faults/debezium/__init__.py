"""Faults of what Debezium captures from PostgreSQL, amid the whole stack."""
