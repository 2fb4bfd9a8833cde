"""views.sql.source."""
