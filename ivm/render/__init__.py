"""From descriptions to operators: who maintains what, and how each node becomes stages."""
