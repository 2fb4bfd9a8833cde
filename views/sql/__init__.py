"""SQL in the dialect of PostgreSQL, bound and typed into the relational plan."""
