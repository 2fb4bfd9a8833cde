-- The nodes that can be reached from roots along edges, the roots among them.
--
-- K-Pg (2018), section 6.2 (graph workloads).
--
-- parameter: node = bigint
-- reads: edges(src $node, dst $node)
-- reads: roots(node $node)
-- key: node
-- example:
--   edges: (1, 2), (2, 3), (4, 1)
--   roots: (1,)
--   rows: (1,), (2,), (3,)
WITH RECURSIVE reached (node) AS (
    SELECT node FROM roots WHERE node IS NOT NULL
    UNION
    SELECT e.dst FROM reached r JOIN edges e ON e.src = r.node WHERE e.dst IS NOT NULL
)
SELECT node FROM reached
