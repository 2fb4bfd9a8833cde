"""Threads: the team that shares a step's work, work stealing, and the locks of a pool.

- `locks`: locks under which a pool's steps and changes exclude one another
- `team`: the team of threads that shares the parts of a step
- `work_stealing`: slices of a shared index range, and the parts that idle threads take
"""
