"""Compiles queries to dataflows: catalog, front-ends, one logical plan, rewrites and lowering.

- `builder/`: view builder: tables with the methods of a data frame write the SQL of a view
- `catalog`: the catalog: tables and views by name, and the dependencies between them
- `compile`: the compiler: front-end, rewrites and lowering, from one query to one dataflow
- `datalog/`: the Datalog front-end: rules over the catalog's tables and views, bound into a plan
- `errors`: errors of queries and definitions; those of a query give their place in its text
- `explain`: the text of every stage of a compilation: parsed, bound, rewritten and lowered
- `languages`: the registry of front-ends: SQL and Datalog
- `limits`: limits on the size of a query, checked before it is parsed
- `lowering/`: lowering: the translation of the logical plan into a dataflow, with every choice made
- `plan/`: the logical plan: relational algebra, built by front-ends and mapped by rewrites
- `programs/`: the library of programs: well-known recursive and graph computations as views
- `reads`: the columns that a query reads of a table
- `rewrites/`: rewrites of the plan: named rules in the order in which they run, one in each module
- `sql/`: the SQL front-end: PostgreSQL's dialect, bound and typed into a plan
- `types`: column types by their SQL names
"""
