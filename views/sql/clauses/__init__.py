"""The clauses of a query, each bound into plan nodes.

- `any_all`: operators other than comparisons with ANY and ALL
- `asof`: ASOF JOIN: to each row on the left the nearest on the right
- `ctes`: WITH: queries under names, each bound anew where the query after them reads it
- `expansion`: set-returning functions outside FROM: the rows that they make
- `grouping`: GROUP BY: from the rows of FROM and WHERE to one row for each group
- `grouping_sets`: grouping sets: the expansion of ROLLUP, CUBE and GROUPING SETS
- `handlers`: the table of scalar syntax: each class with its handler; any other is refused
- `joins`: joins in FROM: lists, conditions, USING and NATURAL
- `limits`: LIMIT, OFFSET and FETCH FIRST [WITH TIES]
- `mutual`: WITH MUTUALLY RECURSIVE, as Materialize has it
- `output_names`: names of output columns, as PostgreSQL gives them
- `qualify`: QUALIFY: a condition over window functions
- `quantifiers`: IN, ANY and ALL over subqueries and lists, and conditions read only for being true
- `queries`: whole queries: WITH, set operations, VALUES, and ORDER BY over them
- `recursion`: WITH RECURSIVE: a base, and a step over what was found so far
- `relations`: FROM: tables, views, WITH queries, subqueries and lists of them
- `searches`: SEARCH and CYCLE of WITH RECURSIVE, as columns of the query
- `select`: one SELECT, clause by clause in the order of their meaning
- `sessions`: sessions of a time column, found by window functions
- `subqueries`: subqueries in expressions: EXISTS, scalar subqueries, and rows of values
- `temporal_filter`: temporal filters: conditions that compare now() with an expression of the row
- `time_windows`: TUMBLE, HOP and SESSION in FROM: rows with the windows of time they lie in
"""
