"""The logical plan: relational algebra that front-ends build and rewrites map to equal plans.

- `bound`: the result of a front-end: the plan, the collections that it reads, and the stages before
- `equalities`: the predicate of a join taken apart: equalities of keys, and the other conditions
- `failures`: expressions that may fail: without a value for a row they make it an error row
- `implied`: conditions that follow from others, of which an input of a join can be tested alone
- `keys`: unique keys of a plan's rows, inferred from primary keys, grouping and DISTINCT
- `nodes`: the nodes of the plan
- `nulls`: null rejection: the columns of which a NULL keeps a condition from being true
- `scalars`: building, taking apart and rewriting scalar expressions
- `selectivity`: the share of rows that conditions are guessed to keep, by their form alone
- `stored`: plans that read one stored collection, all of its rows or some, under other numbers
- `trees`: traversal, rebuilding and renumbering of plans
"""
