"""Kafka: topics as the broker has them, and where reading begins.

- `clusters`: what the tables of the pipeline need from their clusters
- `confirmation`: makes sure, beside the work, that topics are still those that reading began with
- `monitor`: keeps an eye on the clusters in use, so that nobody who asks for the status waits …
- `rereading`: reads committed records of a topic again, by their offsets
- `starts`: where the reading of a table begins
- `topics`: the topics of a cluster as its brokers report them: ids, partitions, offsets
"""
