"""Tests, one folder for each kind, and the oracle that they judge by."""
