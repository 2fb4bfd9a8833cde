"""views.sql.clauses."""
