"""Tests of the matrix of faults: kills, stalls, full disks, refusals and short memory.

`make faults` runs them. In a name, a number is the row of the matrix that it tests.
"""
