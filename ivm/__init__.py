"""The differential core: a pool of workers that maintains dataflows over shared arrangements.

A collection is a multiset of typed rows that changes over logical time, written as updates
`(row, time, diff)`. `ivm.expressions` and `ivm.dataflow` describe what to compute, `ivm.pool`
computes it and keeps it up to date. Nothing here knows of SQL, Kafka, Spark or HTTP.
"""

import os

# Read by OpenMP when the first extension that uses it is loaded, which comes after this. Threads
# that wait for work otherwise spin, and take the cores from Spark beside them: with two workers on
# two busy cores that made steps 19 times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
