"""Loops: entering, going round, leaving, and updates parked for later rounds.

- `loop`: the ends of a loop: entering it, going round, and leaving it
- `parking`: A queue by round for updates at later rounds of a loop, so that a round costs what …
"""
