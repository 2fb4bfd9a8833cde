"""The views room, unit by unit."""
