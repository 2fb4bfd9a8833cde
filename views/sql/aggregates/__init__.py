"""views.sql.aggregates."""
