-- Trimming: the edges left when nodes without an edge in or out are taken away, repeatedly.
--
-- All cycles are among what is left, and often little else: a first step to the components of
-- `scc`.
--
-- Differential dataflow (CIDR 2013), section 5.2 (the pre-processing of other systems) and the
-- appendix.
--
-- parameter: node = bigint
-- reads: edges(src $node, dst $node)
-- key: src, dst
-- example:
--   edges: (1, 2), (2, 1), (2, 3), (3, 4), (5, 1)
--   rows: (1, 2), (2, 1)
WITH
    graph AS (SELECT DISTINCT src, dst FROM edges WHERE src IS NOT NULL AND dst IS NOT NULL),
    found AS (
        WITH MUTUALLY RECURSIVE cut (src $node, dst $node) AS (
            WITH alive AS (SELECT src, dst FROM graph EXCEPT SELECT src, dst FROM cut)
            SELECT src, dst FROM graph
            EXCEPT
            SELECT e.src, e.dst
            FROM alive e
            JOIN (SELECT DISTINCT dst FROM alive) b ON b.dst = e.src
            JOIN (SELECT DISTINCT src FROM alive) a ON a.src = e.dst
        )
        SELECT src, dst FROM graph EXCEPT SELECT src, dst FROM cut
    )
SELECT src, dst FROM found
