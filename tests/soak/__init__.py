"""Long runs: memory and latency stay as they are however many updates have gone through."""
