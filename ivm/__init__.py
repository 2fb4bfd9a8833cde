"""The differential core: a pool of workers that maintains dataflows over shared arrangements.

A collection is a multiset of typed rows that changes over logical time, written as updates
`(row, time, diff)`. `ivm.expressions` and `ivm.dataflow` describe what to compute, `ivm.pool`
computes it and keeps it up to date. Nothing here knows of SQL, Kafka, Spark or HTTP.
"""

import os

# Read by OpenMP when the first extension that uses it is loaded, which comes after this. A thread
# that waits for work spins for a tenth of a millisecond or two, since most waits within a step are
# shorter, and then sleeps: one that spins on takes the cores from Spark beside it, and with two
# workers on two busy cores that made steps up to 19 times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("GOMP_SPINCOUNT", "10000")
