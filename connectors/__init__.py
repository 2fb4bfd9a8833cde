"""Sources and sinks: what turns bytes in topics into typed updates, and deltas into bytes.

Knows files, Debezium envelopes, Spark and the journal of progress; knows nothing of views or HTTP.
"""
