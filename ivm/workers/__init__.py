"""Running operators: stages over all shards, loops, steps, and Arrow batches at the pool's edges."""
