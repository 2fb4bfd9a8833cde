"""Tests of times, frontiers, batches and traces."""
