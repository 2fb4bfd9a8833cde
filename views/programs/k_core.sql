-- The k-core: the nodes left when those with fewer than k neighbours are taken away, repeatedly.
--
-- Differential dataflow (CIDR 2013), section 3.3: negation in a loop, maintained.
--
-- parameter: node = bigint
-- parameter: k = 2
-- reads: edges(src $node, dst $node)
-- key: node
-- example:
--   edges: (1, 2), (2, 3), (3, 1), (3, 4)
--   k: 2
--   rows: (1,), (2,), (3,)
WITH
    graph AS (
        SELECT src, dst FROM edges WHERE src <> dst
        UNION
        SELECT dst, src FROM edges WHERE src <> dst
    ),
    nodes AS (SELECT DISTINCT src AS node FROM graph),
    core AS (
        WITH MUTUALLY RECURSIVE gone (node $node) AS (
            SELECT node FROM nodes
            EXCEPT
            SELECT g.src
            FROM graph g
            WHERE g.src NOT IN (SELECT node FROM gone WHERE node IS NOT NULL)
              AND g.dst NOT IN (SELECT node FROM gone WHERE node IS NOT NULL)
            GROUP BY g.src
            HAVING count(*) >= $k
        )
        SELECT node FROM nodes EXCEPT SELECT node FROM gone
    )
SELECT node FROM core
