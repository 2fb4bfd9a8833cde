"""Loops: entering, going round, leaving, and updates parked for later rounds.

- `loop`: the ends of a loop: Enter, Variable and Feedback, Collect and Leave
- `parking`: a queue by round of updates at later rounds of a loop
"""
