-- Distances by breadth-first search: the least number of edges from a root to each node.
--
-- K-Pg (2018), section 6.2 (graph workloads); "BFS and graph connectivity on evolving graphs"
-- (2015).
--
-- parameter: node = bigint
-- reads: edges(src $node, dst $node)
-- reads: roots(node $node)
-- key: node
-- example:
--   edges: (1, 2), (2, 3), (1, 3), (3, 4), (9, 1)
--   roots: (1,)
--   rows: (1, 0), (2, 1), (3, 1), (4, 2)
WITH MUTUALLY RECURSIVE distance (node $node, steps bigint) AS (
    SELECT node, min(steps)
    FROM (
        SELECT node, 0 AS steps FROM roots WHERE node IS NOT NULL
        UNION ALL
        SELECT e.dst, d.steps + 1
        FROM distance d JOIN edges e ON e.src = d.node
        WHERE e.dst IS NOT NULL
    ) AS proposed
    GROUP BY node
)
SELECT node, steps FROM distance
