"""The Datalog front-end: rules over the catalog's tables and views, bound into a logical plan.

The syntax is Soufflé's where that has one:

    path(x, y) :- follows(x, y).
    path(x, z) :- path(x, y), follows(y, z).
    ?- path(1, x).

- Facts and rules; every relation defined by rules is a set. Tables and views are read by position,
  `orders(i, _, t)`, or by name, `orders(id: i, total: t)`, which leaves the other columns open.
- A body holds relations, `!relation(…)`, comparisons (`= != < <= > >=`) and aggregates:
  `n = count : { … }`, `s = sum(t) : { … }` (also `sum t`), with any aggregate of SQL over values.
  It ranges over all combinations of rows that satisfy the braces, for each combination of the
  variables that also stand outside of them. Of no rows, `count` and `sum` are 0; the others hold
  for no value.
- `x = expression` gives `x` its value; expressions are SQL's: `+ - * / %`, `x::type`, functions.
  A text constant takes the type of its context.
- Recursion may be mutual. No relation may depend on its own negation or aggregate.
- The result is `.output name`, or the answers to one query `?- …`, a column for each variable.
- `.decl path(x: bigint, y: bigint)` names and types the columns of a relation. Without it they
  have the names of the variables in the head of its first rule.
- A program has at most 100,000 characters, and a body 100 literals: facts belong in a table.
- Comments are `// …` and `/* … */`; names are case-sensitive.

As in SQL, NULL equals nothing: a variable that stands twice, or a constant, never matches a NULL.

- `bind`: the entry point: binds a program's text into a plan
- `magic`: magic sets: relations read with bound arguments derive only the rows that can answer
- `parse`: the parser: from text to a program, within the limits on size and nesting
- `relations`: the binder of relations, component by component, with SQL's types and conversions
- `rules`: the translation of a rule to a SELECT
- `strata`: stratification: the components of relations, each after those that it reads
- `syntax`: the syntax tree of a program
- `text`: the printer: a program as text, one rule on each line
"""
