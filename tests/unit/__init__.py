"""Tests of single rooms, with no part of the system replaced."""
