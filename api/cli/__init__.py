"""api.cli."""
