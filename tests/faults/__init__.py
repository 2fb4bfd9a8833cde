"""Tests of the engine where memory is short: allocations that fail, one after another."""
