"""Threads: the team that shares a step's work, work stealing, and the locks of a pool.

- `locks`: the locks under which a pool's steps and changes exclude one another
- `team`: A team of threads
- `work_stealing`: slices of what threads share, and their parts
"""
