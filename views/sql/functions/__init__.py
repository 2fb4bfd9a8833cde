"""views.sql.functions."""
