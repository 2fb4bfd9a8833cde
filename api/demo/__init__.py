"""The demo: change data of a shop and a follower graph, five views, a kill, and a verification.

- `answers`: all rows that the service answers of a view, page by page
- `changes`: change records of Debezium's kind, made once and stamped when they are sent
- `command`: `ivm demo`, where there is a demo: in a checkout
- `graph`: a graph of followers: few are followed by many, and edges come and go
- `ports`: ports for processes that are killed and started again at the same address
- `queries`: the demo's tables and views, and the same views in DuckDB's SQL, written by hand
- `report`: measurements of the demo, as a table for people and as JSON for programs
- `run`: the demo's steps: start, load, kill, recover, pace, look up, verify
- `service`: the service as a process of its own, which can be killed and measured
- `shop`: a shop whose customers, products, orders and items change at random
- `topics`: appends changes to the input topics, at once or at a rate
- `verify`: compares the views with DuckDB, which recomputes them from the input topics alone
- `workload`: all changes of a demo, made beforehand from a fixed seed, in phases
"""
