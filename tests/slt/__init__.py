"""SQL by example: sqllogictest files whose tables change in steps, judged by PostgreSQL.

A file of `tests/slt/files` is a list of records, parted by empty lines:

    # feature: Joins | LEFT JOIN | also without an equality

    statement ok
    CREATE TABLE t (id bigint PRIMARY KEY, name text)

    statement ok
    INSERT INTO t VALUES (1, 'a'), (2, NULL)

    query IT rowsort all
    SELECT id, name FROM t
    ----
    1 a
    2 NULL

    statement ok
    DELETE FROM t WHERE id = 1

    query IT rowsort all
    ----
    2 NULL

- A *statement* (CREATE TABLE with a primary key, INSERT, UPDATE, DELETE, CREATE VIEW) is one step.
  PostgreSQL executes it, and the pool is fed with what it changed. After `statement error <regex>`
  it must fail.
- A *query* becomes a live view where it stands first. From then on, after every step, the view (as
  the sum of its deltas, and as a look-up) must hold the rows that the file last expected of it,
  and so must PostgreSQL's answer. A later mention, by the whole text or by the label alone, says
  which rows are expected from there on; where a step changes no row, no mention is needed.
- `I` an integer, `T` anything as text, `B` a boolean, `N` an exact number without trailing zeros,
  `R` a float or an average to six significant digits: a letter for each column. NULL is `NULL`, an
  empty text `(empty)`. Rows are sorted: a view is a bag.
- Where PostgreSQL's answer is an error, as long as a row is at fault, the rows are one line,
  `ERROR division by zero`, and the view must have such a row error.
- `query error <regex>` is refused when it is registered: the regular expression is searched in
  `code: message`. PostgreSQL must refuse it too, unless the code is `unsupported` or a limit's
  (`query-too-large`, `no-fixed-point`).
- `onlyif ivm` before a query keeps it from PostgreSQL, which does not know all that we do.
- `# feature: section | what | note` lines, at least one in each file, make `docs/sql.md`.

To add a file, write the statements and queries without rows, and let PostgreSQL write the rows,
and the mentions that are needed after later steps: `python -m tests.slt --rewrite FILE…`. Read
what it wrote. `python -m tests.slt FILE…` runs files; `--table` writes `docs/sql.md`.
"""
