"""From a query to a dataflow: catalog, SQL front-end, one plan, rewrites and lowering.

- `builder/`: views written in Python: tables with the methods of a data frame, which make SQL
- `catalog`: the tables and views that a query may name, and what depends on what
- `compile`: the room's main face: one query in, one dataflow out
- `datalog/`: datalog: rules over the catalog's tables and views, bound into the relational plan
- `errors`: what a caller can get wrong about a view; `QueryError` and its kinds say where in the …
- `explain`: every stage of a compilation as text: what was parsed, bound, rewritten and lowered
- `languages`: the languages in which a view can be written, each with its front-end
- `limits`: what a query may cost, before anything is made of it
- `lowering/`: lowering: from the logical plan to the physical one, with every choice made
- `plan/`: the relational plan that every front-end builds and every rewrite maps to another
- `rewrites/`: rewrites of the plan: named rules in the order in which they run, one in each module
- `sql/`: SQL in the dialect of PostgreSQL, bound and typed into the relational plan
- `types`: column types by their SQL names
"""
