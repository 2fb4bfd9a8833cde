"""Deltas out to Kafka, exactly once: one transaction per batch, with its progress inside.

- `counts`: counts of transactions, messages and bytes for whoever watches
- `former_keys`: finds the keys that a former life of a view has left in its topic
- `logs`: passes librdkafka's log to a listener, and never prints it
- `producer`: a transactional producer that knows when it must not be used again
- `progress`: the record of published progress that ends every transaction
- `publisher`: publishes views through one connection, a transaction per batch
- `reading`: reads the progress topic to its committed end
- `refusals`: turns errors of a broker about one topic into errors of its view
- `session`: a publisher's producer, and the progress that is known to be committed
- `sink`: the views with a sink in Kafka, each by way of its connection
- `topics`: makes and checks the topics that a sink writes
- `view`: the state of one view between two commits, and its deltas that wait
"""
