"""PostgreSQL, Debezium, Kafka and the service together."""
