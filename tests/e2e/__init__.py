"""Real parts together."""
