"""Deltas out to Kafka, exactly once: one transaction per batch, with its progress inside.

- `former_keys`: keys that a former life of a view has left in its topic
- `logs`: librdkafka's log: for whoever listens, and for nobody else
- `producer`: A transactional producer that knows when it must not be used again
- `progress`: what a sink has published, as it stands in Kafka beside what was published
- `publisher`: publishes views through one connection
- `reading`: reads the progress topic to its committed end
- `refusals`: errors of a broker about one topic, as errors of the view that is published there
- `sink`: the views with a sink in Kafka, each by way of its connection
- `topics`: the topics that a sink writes
- `view`: one view on its way to Kafka: what is published of it, and what is to be
"""
