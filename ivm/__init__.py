"""The differential core: a pool of workers that maintains dataflows over shared arrangements.

A collection is a multiset of typed rows that changes over logical time, written as updates
`(row, time, diff)`. `ivm.dataflow` describes a computation, `ivm.pool` runs it and keeps its result
up to date. Nothing here knows of SQL, Kafka, Spark or HTTP.
"""
