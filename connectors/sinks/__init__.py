"""Where the deltas of views go."""
