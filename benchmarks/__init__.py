"""Programs that measure the engine through its pool. They report; they never gate a change."""
