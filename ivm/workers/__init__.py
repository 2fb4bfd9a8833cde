"""Running operators: stages over all shards, loops, steps, and Arrow at the pool's edges."""

import os

# Read by OpenMP when the first extension that uses it is loaded, which is in this package. Threads
# that wait for work otherwise spin, and take the cores from Spark beside them: with two workers on
# two busy cores that made steps 19 times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
