"""TPC-H: its tables, its 22 queries as views, and how fast changes stream through them."""
