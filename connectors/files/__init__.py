"""File topics: directories of append-only JSON-lines segments."""
