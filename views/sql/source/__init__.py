"""The text of a query, and its syntax tree.

- `dialect`: postgreSQL's grammar as sqlglot has it, with what sqlglot leaves out and without …
- `quoting`: texts that are quoted in another way than '…'
- `text`: the query's text and its syntax tree, within the limits on size and nesting
"""
