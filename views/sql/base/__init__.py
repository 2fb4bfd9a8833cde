"""views.sql.base."""
