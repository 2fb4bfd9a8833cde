"""Kafka: topics as the broker has them, and where reading begins.

- `clusters`: finds the positions from which the tables of each cluster are read on
- `confirmation`: checks, beside the work, that topics are still those that reading began with
- `consumers`: makes clients that read committed records, and records of their messages
- `fetch`: fetches ranges of many partitions together
- `follow`: reads partitions on and on, through one client
- `gaps`: finds markers of transactions and aborted records at the ends of topics
- `groups`: tells brokers how far sources are, as consumer groups do
- `monitor`: asks the clusters in use for their state, so that a status is there at once
- `rereading`: reads committed records of a topic again, by their offsets
- `starts`: resolves the start of a table to the offsets of one topic id
- `topics`: asks brokers for the ids, partitions and offsets of topics
"""
