"""SQL in the dialect of PostgreSQL, bound and typed into the relational plan.

Syntax trees are sqlglot's; names, types, conversions and the meaning of every clause are ours.
Any construct not listed here is refused with its name and place, never approximated:

- SELECT with WHERE, GROUP BY (expressions, numbers, aliases; ROLLUP, CUBE and GROUPING SETS, with
  `grouping(…)`), HAVING, DISTINCT [ON], ORDER BY, LIMIT, OFFSET, FETCH FIRST [WITH TIES]; VALUES
  and TABLE; UNION, EXCEPT and INTERSECT [ALL];
- WITH, WITH RECURSIVE with SEARCH and CYCLE, and WITH MUTUALLY RECURSIVE as Materialize has it;
- joins: inner, left, right, full, cross, comma, on any condition, NATURAL, USING; LATERAL (inner
  and left); ASOF (inner and left) as DuckDB has it;
- subqueries: derived tables, EXISTS, [NOT] IN, ARRAY, comparison and other operators with ANY and
  ALL, scalar ones and rows, all of them correlated at will;
- rows as values: (a, b), ROW (…), the whole row of a relation, (row).field, (row).*; a column of
  the result that is a row has its text;
- the aggregates that `aggregates.calls.AGGREGATES` lists, with DISTINCT, ORDER BY and FILTER
  inside, and WITHIN GROUP; in a subquery also those of the queries around it;
- windows (OVER, WINDOW) with PARTITION BY, ORDER BY and frames by ROWS, GROUPS or RANGE whose ends
  are constant, with EXCLUDE: row_number, rank, dense_rank, percent_rank, cume_dist, ntile, lag,
  lead, first_value, last_value, nth_value, with IGNORE NULLS; and the aggregates but for those of
  WITHIN GROUP, with FILTER; QUALIFY;
- windows of time in FROM: TUMBLE, HOP and SESSION; and SESSION WITH GAP as a frame;
- now() compared with an expression of the row in WHERE: rows come and go as time passes;
- functions that return sets, in FROM (LATERAL or not, ROWS FROM, WITH ORDINALITY), the select list,
  GROUP BY and ORDER BY: unnest, generate_series, jsonb_array_elements, jsonb_each,
  jsonb_object_keys, regexp_matches, regexp_split_to_table, string_to_table;
- the scalar operators, the syntax of EXTRACT and its like, and the functions that `named.FUNCTIONS`
  lists: of text, regular expressions (see `ivm.values.patterns`), numbers, dates,
  intervals, jsonb and arrays. Patterns are constants.

Unlike PostgreSQL: the session's time zone is UTC, and abbreviations of zones have today's offset;
numeric has 38 digits, and scales as in `base.coercion`; `char(n)` is no column;
numeric results of roots, powers and logarithms have 16 digits after the point; jsonb keeps no zeros
at the end of a fraction, has no order, and is json too; equal intervals that are grouped show their
normal form, and an interval's part below a day is at most 292 years; a recursive query's integer
columns are as wide as its step's; grouping by a table's primary key allows its other columns
anywhere they are read directly; an ORDER BY without LIMIT has no effect, as a view is a bag of
rows; text compares by code points; rows that tie in the ORDER BY of a window, LIMIT or DISTINCT ON
are in the order of the columns that the query reads beside it, and those over the same window agree
on it; where PostgreSQL leaves an aggregate's order open, it is that of `aggregates.ordered`;
variances are double precision.

- `aggregates/`: aggregates and window functions: their syntax, and the calls that a query computes
- `base/`: the base of every expression's binding: scopes, conversions, literals, signatures
- `bind`: the entry point: binds a query's text into a plan
- `clauses/`: the clauses of a query, each bound into plan nodes
- `functions/`: scalar functions and operators, by families
- `source/`: the text of a query, and its syntax tree
"""
