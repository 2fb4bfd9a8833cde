"""Running operators: stages over all shards, loops, steps, and Arrow at the pool's edges."""
