"""The whole path measured: Kafka, Spark, pool, Kafka, with a broker and a service of its own.

`run` tells the story and its figures; `records` makes the changes, `feeder` produces them in a
process of its own, and `reader` reads what is committed to a delta topic. `profile` measures the
processor time of each part of the path, which `samples` divides.
"""
