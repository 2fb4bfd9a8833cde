"""The text of a query, and its syntax tree.

- `dialect`: PostgreSQL's grammar: sqlglot's, with additions and with its rewriting left out
- `explain`: EXPLAIN in front of a query
- `function_names`: names of functions that are read as classes of syntax
- `quoting`: quoted texts in other forms than '…'
- `searches`: the syntax of SEARCH and CYCLE after a recursive query
- `time_windows`: the grammar of TUMBLE, HOP and SESSION in FROM, and of SESSION WITH GAP in OVER
- `text`: the parser: from a query's text to its syntax tree, within the limits
"""
