"""Updates at rest: sorting and consolidation, immutable batches, and the spines that merge them."""
