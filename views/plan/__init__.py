"""The relational plan that every front-end builds and every rewrite maps to another.

- `bound`: what every front-end makes of a query's text
- `constants`: constants, computed by the engine's own kernels
- `equalities`: what a join compares: its predicate taken apart into keys and the rest
- `failures`: what may fail: an expression without a value for some row makes that row an error
- `implied`: conditions that follow from others, of which an input of a join can be tested alone
- `keys`: what is known to be unique in a plan's rows, from primary keys, grouping and DISTINCT
- `nodes`: nodes of the relational plan
- `nulls`: which NULLs keep a condition from being true
- `scalars`: building and taking apart the expressions of a plan
- `stored`: plans that are a stored collection's rows, some of them perhaps, under other numbers
- `trees`: walking and rebuilding plans
"""
