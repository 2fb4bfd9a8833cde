"""ivm.planner."""
