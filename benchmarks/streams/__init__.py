"""Nexmark through Kafka, in turn by this service and by what a user would pick instead.

- `events`: people, auctions and bids from a fixed seed, and the messages that say them
- `queries`: the queries, and DuckDB's answers
- `topics`: fills topics in a transaction, which is committed once a system waits for records
- `q5.sql`: the view of q5, which counts less than the text that DuckDB has
- `outputs`: follows the topic of a system's results, and folds them to rows
- `systems`: starts each system on a query
- `run`: tells the story and its figures
- `page`: the figures as a page with a chart
"""
