"""The clauses of a query, each bound into plan nodes.

- `ctes`: WITH: queries under names, which the query after them reads as often as it likes
- `grouping`: GROUP BY: from the rows of FROM and WHERE to one row for each group
- `grouping_sets`: GROUP BY as grouping sets: what ROLLUP, CUBE and GROUPING SETS stand for
- `handlers`: every class of scalar syntax that views have, with its handler; all others are …
- `joins`: joins in FROM: lists, conditions, USING and NATURAL
- `limits`: LIMIT, OFFSET and FETCH FIRST [WITH TIES]
- `mutual`: WITH MUTUALLY RECURSIVE, as Materialize has it
- `quantifiers`: IN, ANY and ALL over subqueries and lists, and conditions of which only the …
- `queries`: whole queries: WITH, set operations, VALUES, and ORDER BY over them
- `recursion`: WITH RECURSIVE: a base, and a step over what was found so far
- `relations`: FROM: tables, views, WITH queries, subqueries and lists of them
- `select`: one SELECT, clause by clause in the order of their meaning
- `subqueries`: subqueries in expressions: EXISTS, and those that are a value or a row of values
- `temporal_filter`: temporal filters: conditions that compare now() with what a row says
"""
