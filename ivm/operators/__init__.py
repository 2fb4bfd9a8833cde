"""Operators: each takes the updates of one activation and appends its output's updates."""
